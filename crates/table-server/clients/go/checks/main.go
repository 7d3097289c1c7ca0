// Checks a server with the Go client that Debian packages, the `storage` package of azure-sdk-for-go 68.
//
// Usage: checks ENDPOINT RESULTS. Prints `name: ok` or `name: FAIL why`, and writes `passed` or `failed`, a tab and the name.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/storage"
	"github.com/gofrs/uuid"
)

const timeout = 10

var results bytes.Buffer

// The client has the emulators' port in its text, so connections are led to the endpoint.
func client(endpoint *url.URL, lite bool) (storage.TableServiceClient, error) {
	basic, err := storage.NewEmulatorClient()
	if err != nil {
		return storage.TableServiceClient{}, err
	}
	basic.UseSharedKeyLite = lite
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, endpoint.Host)
	}
	basic.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: timeout * time.Second}
	// A check wants the first answer.
	basic.Sender = &storage.DefaultSender{RetryAttempts: 1}
	return basic.GetTableService(), nil
}

func check(name string, run func() error) {
	outcome, err := "passed", run()
	if err != nil {
		outcome = "failed"
		fmt.Printf("%s: FAIL %s\n", name, strings.Split(err.Error(), "\n")[0])
	} else {
		fmt.Printf("%s: ok\n", name)
	}
	fmt.Fprintf(&results, "%s\t%s\n", outcome, name)
}

func same(what string, got, want interface{}) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("%s is %v, not %v", what, got, want)
}

// Expects that the server refuses with this status.
func refused(err error, status int) error {
	var told storage.AzureStorageServiceError
	if errors.As(err, &told) {
		return same("status", told.StatusCode, status)
	}
	// The client turns some into text.
	if err != nil && strings.Contains(err.Error(), fmt.Sprintf("StatusCode=%d,", status)) {
		return nil
	}
	return fmt.Errorf("was to be refused with %d, and said: %v", status, err)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func entity(table *storage.Table, row string, properties map[string]interface{}) *storage.Entity {
	made := table.GetEntityReference("p", row)
	made.Properties = properties
	return made
}

func get(table *storage.Table, row string) (map[string]interface{}, error) {
	got := table.GetEntityReference("p", row)
	err := got.Get(timeout, storage.MinimalMetadata, nil)
	return got.Properties, err
}

func rows(table *storage.Table, options *storage.QueryOptions) (string, error) {
	page, err := table.QueryEntities(timeout, storage.MinimalMetadata, options)
	names := []string{}
	for ; err == nil; page, err = page.NextResults(nil) {
		for _, e := range page.Entities {
			names = append(names, e.RowKey)
		}
		if page.QueryNextLink.NextLink == nil {
			break
		}
	}
	return strings.Join(names, " "), err
}

func inTable(service storage.TableServiceClient) {
	table := service.GetTableReference(fmt.Sprintf("go%d", time.Now().UnixNano()))
	check("table create", func() error { return table.Create(timeout, storage.EmptyPayload, nil) })
	defer check("table delete", func() error { return table.Delete(timeout, nil) })
	check("table create, again", func() error {
		return refused(table.Create(timeout, storage.FullMetadata, nil), 409)
	})
	check("table get", func() error { return table.Get(timeout, storage.FullMetadata) })
	check("tables, filtered", func() error {
		options := &storage.QueryTablesOptions{Filter: "TableName eq '" + table.Name + "'"}
		found, err := service.QueryTables(storage.MinimalMetadata, options)
		if err != nil {
			return err
		}
		return same("tables", len(found.Tables), 1)
	})
	check("entity insert and get, of every type", func() error {
		sent := map[string]interface{}{
			"Text": "žluť 🐎", "Flag": true, "Large": int64(9007199254740993), "Ratio": 0.5, "Bytes": []byte{0, 255},
			"When": time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC),
			"Id":   uuid.FromStringOrNil("c9da6455-213d-42c9-9a79-3e9149a57833"),
		}
		err := entity(table, "1", sent).Insert(storage.MinimalMetadata, nil)
		got, getting := get(table, "1")
		return first(err, getting, same("entity", got, sent))
	})
	check("entity insert, again", func() error {
		return refused(entity(table, "1", nil).Insert(storage.EmptyPayload, nil), 409)
	})
	check("entity get, missing", func() error {
		_, err := get(table, "none")
		return refused(err, 404)
	})
	check("entity merge and update", func() error {
		err := entity(table, "2", map[string]interface{}{"A": "1"}).InsertOrReplace(nil)
		merged := entity(table, "2", map[string]interface{}{"B": "2"}).Merge(true, nil)
		both, getting := get(table, "2")
		updated := entity(table, "2", map[string]interface{}{"C": "3"}).Update(true, nil)
		one, again := get(table, "2")
		return first(err, merged, getting, updated, again,
			same("merged", both, map[string]interface{}{"A": "1", "B": "2"}),
			same("updated", one, map[string]interface{}{"C": "3"}))
	})
	check("entity update, an old etag", func() error {
		old := entity(table, "2", nil)
		old.OdataEtag = "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\""
		return refused(old.Update(false, nil), 412)
	})
	check("entity merge by insert-or-merge, and delete", func() error {
		made := entity(table, "3", map[string]interface{}{"A": "1"})
		return first(made.InsertOrMerge(nil), made.Delete(true, nil), refused(made.Delete(true, nil), 404))
	})
	check("query, in pages", func() error {
		batch := table.NewBatch()
		for i := 0; i < 7; i++ {
			batch.InsertEntity(entity(table, fmt.Sprintf("b%d", i), map[string]interface{}{"N": i}))
		}
		err := batch.ExecuteBatch()
		found, querying := rows(table, &storage.QueryOptions{Filter: "RowKey ge 'b' and N lt 5", Top: 2})
		return first(err, querying, same("rows", found, "b0 b1 b2 b3 b4"))
	})
	check("batch of every kind", func() error {
		batch := table.NewBatch()
		batch.MergeEntity(entity(table, "b0", map[string]interface{}{"M": "1"}))
		batch.InsertOrReplaceEntity(entity(table, "b1", nil), true)
		batch.InsertOrMergeEntity(entity(table, "b8", nil), true)
		batch.DeleteEntity(entity(table, "b2", nil), true)
		err := batch.ExecuteBatch()
		found, querying := rows(table, &storage.QueryOptions{Filter: "RowKey ge 'b'"})
		return first(err, querying, same("rows", found, "b0 b1 b3 b4 b5 b6 b8"))
	})
	check("batch that fails", func() error {
		batch := table.NewBatch()
		batch.InsertEntity(entity(table, "c1", nil))
		batch.InsertEntity(entity(table, "b0", nil))
		err := batch.ExecuteBatch()
		_, getting := get(table, "c1")
		return first(refused(err, 409), refused(getting, 404))
	})
	check("permissions", func() error {
		now := time.Now().UTC().Truncate(time.Second)
		sent := []storage.TableAccessPolicy{{ID: "reader", StartTime: now, ExpiryTime: now.Add(time.Hour), CanRead: true}}
		err := table.SetPermissions(sent, timeout, nil)
		got, getting := table.GetPermissions(timeout, nil)
		return first(err, getting, same("permissions", got, sent))
	})
}

func main() {
	endpoint, err := url.Parse(os.Args[1])
	if err != nil {
		panic(err)
	}
	service, err := client(endpoint, false)
	if err != nil {
		panic(err)
	}
	inTable(service)
	check("service properties", func() error {
		got, err := service.GetServiceProperties()
		if err != nil {
			return err
		}
		return service.SetServiceProperties(*got)
	})
	check("shared key lite", func() error {
		lite, err := client(endpoint, true)
		if err != nil {
			return err
		}
		_, err = lite.QueryTables(storage.NoMetadata, nil)
		return err
	})
	if err := os.WriteFile(os.Args[2], results.Bytes(), 0o644); err != nil {
		panic(err)
	}
}

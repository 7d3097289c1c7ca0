#!/usr/bin/env python3
"""Compares the answers of two servers to the same random operations and queries.

    queries.py ONE OTHER [--steps N] [--seed N] [--known FILE]

ONE and OTHER are endpoints, like http://127.0.0.1:10002/devstoreaccount1. Statuses, codes, bodies without times and etags,
sizes of pages and some headers are compared. Differences are grouped, each with a count and an example; the exit code is 1
if a group is not a heading of FILE (differences.md beside this script).
"""

import argparse
import collections
import json
import pathlib
import random as randomness
import re
import sys
import urllib.parse
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parent / "compare"))
import generate
from signed import Endpoint, key_path, parts

TIMES = {"Timestamp", "odata.etag", "odata.metadata", "odata.id", "odata.editLink", "Timestamp@odata.type"}


def plain(value):
    """Returns JSON without what differs between any two servers."""
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items() if name not in TIMES}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def report(answer):
    """Returns what is compared of one answer."""
    code, _ = answer.error
    body = answer.json
    return {
        "status": answer.status,
        "code": code,
        "body": None if code else plain(body),
        "etag": bool(answer.etag),
        "applied": answer.headers.get("preference-applied"),
        "type": answer.headers.get("content-type", "").split(";")[0] if answer.body else "",
    }


def only(rows, others):
    """Returns the first row that others lack, shortly."""
    return next((row for row in rows or [] if row not in (others or [])), None)


def row_difference(one, other):
    """Returns in a few words how two lists of rows differ."""
    if one is None or other is None:
        return "refused by one"
    if one == other or len(one) != len(other):
        return f"{'more' if len(one) > len(other) else 'fewer'} rows in one"
    for left, right in zip(one, other):
        for name in {**left, **right}:
            if left.get(name, "absent") != right.get(name, "absent"):
                return f"{name.split('@')[-1] if '@' in name else 'value'} {left.get(name, 'absent')} | {right.get(name, 'absent')}"
    return "order"


class Run:
    def __init__(self, one, other, seed):
        self.sides = [Endpoint(one), Endpoint(other)]
        self.random = randomness.Random(seed)
        self.table = "cmp" + uuid.uuid4().hex
        self.etags = [{}, {}]
        self.groups = collections.Counter()
        self.examples = {}
        self.compared = 0

    def differ(self, what, said, example):
        """Counts a difference in the first thing that the two reports differ by."""
        one, other = said
        self.compared += 1
        for field in one:
            if one[field] != other[field]:
                sides = f"{one[field]} | {other[field]}"
                if field == "rows":
                    sides = row_difference(one[field], other[field])
                elif field == "body":
                    sides = row_difference([one[field] or {}], [other[field] or {}])
                group = f"{what}, {field}: {sides}"
                self.groups[group] += 1
                pair = [one[field], other[field]]
                if field == "rows":
                    pair = [only(*pair), only(*pair[::-1])]
                self.examples.setdefault(group, (example, *pair))
                return True
        return False

    def both(self, act):
        return [act(number, side) for number, side in enumerate(self.sides)]

    def key(self):
        return self.random.choice(generate.PARTITIONS), self.random.choice(generate.ROWS)

    def condition(self, key):
        """Returns the name of a precondition, and its header for either side."""
        kind = self.random.choices(["none", "any", "current", "old", "bad"], [1, 4, 4, 0.4, 0.2])[0]
        if kind == "none":
            return kind, [{}, {}]
        if kind == "any":
            return kind, [{"If-Match": "*"}] * 2
        if kind == "old":
            return kind, [{"If-Match": "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\""}] * 2
        if kind == "bad":
            return kind, [{"If-Match": "nonsense"}] * 2
        if all(key in tags for tags in self.etags):
            return kind, [{"If-Match": tags[key]} for tags in self.etags]
        return "any", [{"If-Match": "*"}] * 2

    def write(self, key, may_be_odd=True):
        """Returns a random write: its name, method, path, headers for either side, body."""
        path = key_path(self.table, *key)
        body, odd = generate.entity(self.random, *key, may_be_odd)
        # Most writes are to succeed, for a batch that fails at its first action shows little of the others.
        there = (key in self.etags[0]) ^ (self.random.random() < 0.1)
        kind = self.random.choices(["insert", "PUT", "MERGE", "DELETE"], [0, 3, 3, 2] if there else [6, 2, 2, 0])[0]
        if kind == "insert":
            return " ".join(["insert", odd]).strip(), "POST", self.table, [{}, {}], body
        condition, headers = self.condition(key) if there or kind == "DELETE" else ("none", [{}, {}])
        if kind == "DELETE":
            return f"DELETE {condition}", kind, path, headers, None
        return " ".join([kind, condition, odd]).strip(), kind, path, headers, body

    def remember(self, key, method, answers):
        for tags, answer in zip(self.etags, answers):
            if answer.status < 300 and method == "DELETE":
                tags.pop(key, None)
            elif answer.status < 300 and answer.etag:
                tags[key] = answer.etag

    def level(self, keys):
        """Makes both sides alike again after they came apart: one difference is not to become many."""
        for key in keys:
            path = key_path(self.table, *key)
            answers = self.both(lambda _, side: side.send("DELETE", path, headers={"If-Match": "*"}))
            self.remember(key, "DELETE", answers)

    def operation(self):
        key = self.key()
        name, method, path, headers, body = self.write(key)
        prefer = self.random.choice([{}, {"Prefer": "return-no-content"}, {"Prefer": "return-content"}])
        extra = prefer if method == "POST" else {}
        answers = self.both(lambda n, side: side.send(method, path, headers={**headers[n], **extra}, body=body and body.encode()))
        self.remember(key, method, answers)
        example = f"{method} {urllib.parse.unquote(path)} {headers[0]} {extra} {body}"
        apart = self.differ(name, [report(a) for a in answers], example)
        got = self.both(lambda _, side: side.send("GET", key_path(self.table, *key)))
        # What was written is read again, so that a difference is found where it began.
        if apart or self.differ(f"{name}, then get", [report(a) for a in got], example):
            self.level([key])

    def batch(self):
        partition = self.random.choice(generate.PARTITIONS)
        names, keys, methods, actions = [], [], [], [[], []]
        for _ in range(self.random.randint(1, 5)):
            key = self.key() if self.random.random() < 0.02 else (partition, self.random.choice(generate.ROWS))
            if key in keys and self.random.random() < 0.9:
                continue
            # After a batch with a type that there is not, the emulator refuses all batches.
            name, method, path, headers, body = self.write(key, may_be_odd=False)
            names.append(name)
            keys.append(key)
            methods.append(method)
            for n in (0, 1):
                actions[n].append((method, path, headers[n], body))
        answers = self.both(lambda n, side: side.batch(self.table, actions[n]))
        said = []
        for answer in answers:
            each = parts(answer)
            failed = [p.error for p in each if p.status >= 400]
            index = failed[0][1].split(":")[0] if failed and ":" in failed[0][1] else ""
            code = answer.error[0] or (failed[0][0] if failed else "")
            said.append({"status": answer.status, "parts": [p.status for p in each], "code": code, "index": index})
        for action in zip(keys, methods, *[parts(answer) for answer in answers]):
            self.remember(action[0], action[1], action[2:])
        traits = {
            " of two partitions": len({k[0] for k in keys}) > 1,
            " with a row twice": len(set(keys)) < len(keys),
            " with DELETE without a condition": "DELETE none" in names,
            " with a bad etag": any(name.endswith(" bad") for name in names),
        }
        what = "batch" + "".join(trait for trait, has in traits.items() if has)
        if self.differ(what, said, " ; ".join(f"{n} {k}" for n, k in zip(names, keys))):
            self.level(keys)

    def query(self):
        text, atoms, damaged = generate.filter_text(self.random)
        query = {"$filter": text}
        if self.random.random() < 0.4:
            query["$top"] = self.random.choice(["1", "2", "5", "1000"])
        if self.random.random() < 0.03:
            query["$top"] = self.random.choice(["0", "1001", "x", "-1", ""])
        if self.random.random() < 0.4:
            names = sorted(generate.NAMES) + ["PartitionKey", "RowKey", "Timestamp", "Missing"]
            query["$select"] = ",".join(self.random.sample(names, self.random.randint(1, 4)))
        said = self.answers(query)
        if said[0] == said[1]:
            self.compared += 1
            return
        if query.get("$top") not in (None, "1", "2", "5", "1000"):
            self.differ(f"$top={query['$top']}", said, str(query))
        elif damaged:
            self.differ("damaged filter", said, str(query))
        else:
            self.blame(query, atoms, said)

    def answers(self, query):
        return self.both(lambda _, side: self.pages(side, query))

    def blame(self, query, atoms, said):
        """Looks for the smallest part of a query that the sides differ about."""
        for atom in atoms:
            for text, name in ((atom, generate.shape(atom)), (f"not ({atom})", f"not ({generate.shape(atom)})")):
                found = self.answers({"$filter": text})
                row = only(found[0]["rows"], found[1]["rows"]) or only(found[1]["rows"], found[0]["rows"])
                other_type = generate.other_type(atom, row) if row else ""
                if other_type:
                    name = f"filter of {other_type}"
                    name += ", not" if text != atom else f", {generate.operator(atom)}"
                else:
                    name = f"filter {name}"
                if self.differ(name, found, text):
                    return
        alone = self.answers({"$filter": query["$filter"]})
        self.differ("select or top" if alone[0] == alone[1] else "filter of several", said, str(query))

    def pages(self, side, query):
        """Reads every page and returns rows, and sizes of pages, or how it was refused."""
        rows, sizes, more = [], [], {}
        while True:
            answer = side.send("GET", f"{self.table}()", {**query, **more})
            code, _ = answer.error
            if answer.status != 200:
                return {"status": answer.status, "code": code, "rows": None, "pages": None}
            page = (answer.json or {}).get("value", [])
            rows += [plain(row) for row in page]
            sizes.append(len(page))
            more = {
                name: answer.headers[f"x-ms-continuation-{name.lower()}"]
                for name in ("NextPartitionKey", "NextRowKey")
                if f"x-ms-continuation-{name.lower()}" in answer.headers
            }
            if not more or len(sizes) > 60:
                # An empty last page says the same as none.
                return {"status": 200, "code": code, "rows": rows, "pages": [n for n in sizes if n]}

    def run(self, steps):
        body = json.dumps({"TableName": self.table}).encode()
        for answer in self.both(lambda _, side: side.send("POST", "Tables", body=body)):
            if answer.status != 201:
                sys.exit(f"no table could be made: {answer.status} {answer.body[:300]!r}")
        try:
            for _ in range(steps):
                self.random.choices([self.operation, self.batch, self.query], [5, 2, 5])[0]()
        finally:
            self.both(lambda _, side: side.send("DELETE", f"Tables('{self.table}')"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("one")
    arguments.add_argument("other")
    arguments.add_argument("--steps", type=int, default=3000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--known", type=pathlib.Path, default=pathlib.Path(__file__).parent / "differences.md")
    given = arguments.parse_args()
    run = Run(given.one, given.other, given.seed)
    run.run(given.steps)
    known = re.findall(r"^\* `(.+?)`: ", given.known.read_text(encoding="utf-8"), re.M) if given.known.exists() else []
    new = 0
    for group, count in run.groups.most_common():
        explained = any(re.fullmatch(pattern, group) for pattern in known)
        new += not explained
        example, one, other = run.examples[group]
        print(f"{'known' if explained else 'NEW'} {count}x {group}")
        if not explained:
            print(f"    {example}\n    one:   {str(one)[:400]}\n    other: {str(other)[:400]}")
    print(f"{run.compared} comparisons, {sum(run.groups.values())} differences in {len(run.groups)} groups, {new} unexplained")
    sys.exit(1 if new else 0)


if __name__ == "__main__":
    main()

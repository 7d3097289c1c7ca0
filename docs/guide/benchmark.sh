#!/usr/bin/env bash
# Draws the figures of `docs/benchmarks/company.md` into the guide's picture: for each workload the time of table-core and of
# three databases, as multiples of hand-written LMDB's. The colours of text follow the reader's light or dark scheme.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
awk -F ' *[|] *' '
    BEGIN {
        split("typed redb sqlite native_db", engines, " ")
        split("table-core redb SQLite native_db", names, " ")
        split("#0072b2 #cc79a7 #e69f00 #009e73", colours, " ")
        # The workloads, as the table calls them and as the picture does.
        wanted["get"] = "get"
        wanted["get by e-mail"] = "get by e-mail"
        wanted["list by last name, 100 rows or so"] = "list by last name"
        wanted["range of 100"] = "range of 100"
        wanted["scan of all, an employee"] = "scan"
        wanted["load, transactions of 100, an employee"] = "load by hundreds"
        wanted["insert, a transaction each"] = "insert"
        wanted["change of an e-mail, a transaction each"] = "change"
        wanted["delete, a transaction each"] = "delete"
        left = 150; unit = 48; y = 64
    }
    /^One thread: / { day = substr($0, 13, 10) }
    $2 == "workload" && !columns { for (i = 3; i <= NF; i++) column[$i] = i; columns = NF }
    $2 in wanted && !($2 in drawn) {
        drawn[$2] = 1; rows++
        body = body sprintf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 10, y + 24, wanted[$2])
        for (e = 1; e <= 4; e++) {
            # A cell is the time, and the ratio in bold.
            if (split($(column[engines[e]]), cell, "[*][*]") < 2) { print "no figure of " engines[e] ": " $2 > "/dev/stderr"; exit failed = 1 }
            body = body sprintf("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"9\" fill=\"%s\"/><text x=\"%.1f\" y=\"%d\" class=\"figure\">%.1f</text>\n", left, y, cell[2] * unit, colours[e], left + cell[2] * unit + 4, y + 8, cell[2])
            y += 10
        }
        y += 12
    }
    END {
        if (failed || rows != 9) { print "not all figures were found" > "/dev/stderr"; exit 1 }
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 660 %d\" width=\"660\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", y, y
        print "<title>Time as a multiple of hand-written LMDB: shorter is faster</title>"
        print "<style>text { fill: #222 } .figure { font-size: 8px } line { stroke: #777 } @media (prefers-color-scheme: dark) { text { fill: #ddd } }</style>"
        printf "<text x=\"10\" y=\"18\" font-weight=\"bold\">Time as a multiple of hand-written LMDB (the line): shorter is faster. %s</text>\n", day
        for (e = 1; e <= 4; e++)
            printf "<rect x=\"%d\" y=\"32\" width=\"10\" height=\"10\" fill=\"%s\"/><text x=\"%d\" y=\"41\">%s</text>\n", left + (e - 1) * 110, colours[e], left + (e - 1) * 110 + 15, names[e]
        printf "%s<line x1=\"%d\" x2=\"%d\" y1=\"56\" y2=\"%d\"/>\n</svg>\n", body, left + unit, left + unit, y - 6
    }
' "$root/docs/benchmarks/company.md" >"$root/table-core/guide/benchmark.svg"

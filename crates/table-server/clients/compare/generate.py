"""Random entities and filters, from pools so small that values meet."""

import base64
import json

PARTITIONS = ["", "a", "b", "o'x", "ž 🐎"]
ROWS = ["", "1", "2", "10", "x y", "%25", "B", "b", "\uffee"]

# By type: texts of JSON, and literals of filters that stand for the same values.
POOLS = {
    "Edm.String": (['""', '"a"', '"B"', '"o\'x"', '"10"', '"ž"'], ["''", "'a'", "'B'", "'o''x'", "'10'", "'ž'"]),
    "Edm.Int32": (["0", "1", "-1", "2147483647", "-2147483648"], ["0", "1", "-1", "2147483647", "-2147483648"]),
    "Edm.Int64": (
        ['"0"', '"1"', '"-1"', '"9007199254740993"', '"9223372036854775807"'],
        ["0L", "1L", "-1L", "9007199254740993L", "9223372036854775807L"],
    ),
    "Edm.Double": (["0.0", "1.0", "-1.5", "1e300", '"NaN"', '"Infinity"'], ["0.0", "1.0", "-1.5", "1e300"]),
    "Edm.Boolean": (["true", "false"], ["true", "false"]),
    "Edm.DateTime": (
        ['"2024-02-29T12:00:00Z"', '"1601-01-01T00:00:00Z"', '"2024-02-29T12:00:00.1234567Z"'],
        [f"datetime'{t}'" for t in ("2024-02-29T12:00:00Z", "1601-01-01T00:00:00Z", "2024-02-29T12:00:00.1234567Z")],
    ),
    "Edm.Guid": (
        ['"c9da6455-213d-42c9-9a79-3e9149a57833"', '"00000000-0000-0000-0000-000000000001"'],
        ["guid'c9da6455-213d-42c9-9a79-3e9149a57833'", "guid'00000000-0000-0000-0000-000000000001'"],
    ),
    "Edm.Binary": (
        [f'"{base64.b64encode(b).decode()}"' for b in (b"", b"\x00", b"\x00\xff")],
        ["X''", "X'00'", "X'00ff'"],
    ),
}
# The type that a property mostly has.
NAMES = {
    "Text": "Edm.String",
    "Small": "Edm.Int32",
    "Large": "Edm.Int64",
    "Ratio": "Edm.Double",
    "Flag": "Edm.Boolean",
    "When": "Edm.DateTime",
    "Id": "Edm.Guid",
    "Bytes": "Edm.Binary",
}
# Types that JSON's own values have without a name.
BARE = {"Edm.String", "Edm.Int32", "Edm.Boolean"}
ODD = [
    '"Odd":null',
    '"Odd@odata.type":"Edm.Int64","Odd":"9223372036854775808"',
    '"Odd@odata.type":"Edm.Int32","Odd":"7"',
    '"Odd@odata.type":"Edm.Boolean","Odd":"True"',
    '"Odd@odata.type":"Edm.Guid","Odd":"none"',
    '"Odd@odata.type":"Edm.DateTime","Odd":"yesterday"',
    '"Odd@odata.type":"Edm.DateTime","Odd":"2024-02-29"',
    '"Odd@odata.type":"Edm.Binary","Odd":"!"',
    '"Odd@odata.type":"Edm.Nothing","Odd":"1"',
    '"Odd@odata.type":"Edm.Double","Odd":1',
    '"Odd":1.0',
    '"Odd":2147483648',
    '"Odd":[1]',
    '"Odd":{}',
    '"o d d":1',
    '"Odd',
]


def entity(random, partition, row, may_be_odd):
    """Returns an entity's JSON, and what is odd about it or an empty text."""
    fields = [f'"PartitionKey":{json.dumps(partition)}', f'"RowKey":{json.dumps(row)}']
    for name, usual in NAMES.items():
        if random.random() < 0.6:
            kind = usual if random.random() < 0.9 else random.choice(sorted(POOLS))
            if kind not in BARE:
                fields.append(f'"{name}@odata.type":"{kind}"')
            fields.append(f'"{name}":{random.choice(POOLS[kind][0])}')
    odd = random.choice(ODD) if may_be_odd and random.random() < 0.08 else ""
    if odd:
        fields.append(odd)
    return "{" + ",".join(fields) + "}", odd


def comparison(random):
    operator = random.choice(["eq", "ne", "gt", "ge", "lt", "le"])
    turn = random.random()
    if turn < 0.25:
        name, literal = "PartitionKey", random.choice(["''", "'a'", "'b'", "'o''x'", "'ž 🐎'"])
    elif turn < 0.4:
        name, literal = "RowKey", random.choice(["''", "'1'", "'10'", "'x y'", "'B'"])
    elif turn < 0.45:
        name, literal = "Timestamp", random.choice(["datetime'2001-01-01T00:00:00Z'", "datetime'2100-01-01T00:00:00Z'"])
    else:
        name = random.choice(sorted(NAMES))
        kind = NAMES[name] if random.random() < 0.85 else random.choice(sorted(POOLS))
        literal = random.choice(POOLS[kind][1])
        if kind == "Edm.Boolean" and random.random() < 0.3:
            return name
    # A constant may stand on either side.
    return f"{literal} {operator} {name}" if random.random() < 0.1 else f"{name} {operator} {literal}"


def condition(random, atoms, depth=0):
    turn = random.random()
    if depth > 2 or turn < 0.45:
        atoms.append(comparison(random))
        return atoms[-1]
    if turn < 0.55:
        return f"not ({condition(random, atoms, depth + 1)})"
    joined = f" {random.choice(['and', 'or'])} ".join(condition(random, atoms, depth + 1) for _ in range(2))
    return f"({joined})" if random.random() < 0.5 else joined


def filter_text(random):
    """Returns a filter, its single comparisons, and whether it was damaged."""
    atoms = []
    text = condition(random, atoms)
    if random.random() < 0.06:
        at = random.randrange(len(text))
        return text[:at] + text[at + 1 :], [], True
    return text, atoms, False


def kind_of(word):
    """Returns the type of a literal, or the name of a property; a number with an exponent stands for itself."""
    if word == "1e300":
        return word
    kinds = [kind for kind, (_, literals) in POOLS.items() if word in literals]
    return kinds[0] if kinds else "Edm.String" if word.startswith("'") else word


def sides(atom):
    """Returns what stands left of a comparison, its operator, and what stands right; a property alone is equal to true."""
    for word in ("eq", "ne", "gt", "ge", "lt", "le"):
        if f" {word} " in atom:
            left, right = atom.split(f" {word} ", 1)
            return left, word, right
    return atom, "eq", "true"


def operator(atom):
    return sides(atom)[1]


def shape(atom):
    """Returns a comparison with its literal's type in the place of the literal."""
    left, word, right = sides(atom)
    return f"{kind_of(left)} {word} {kind_of(right)}"


def other_type(atom, row):
    """Returns of what other type than the comparison's literal the row's property is, or an empty text."""
    left, _, right = sides(atom)
    name, literal = (left, right) if left in NAMES else (right, left)
    value = row.get(name)
    bare = {bool: "Edm.Boolean", int: "Edm.Int32", float: "Edm.Double", str: "Edm.String"}
    stored = row.get(f"{name}@odata.type", bare.get(type(value)))
    wanted = "Edm.Double" if literal == "1e300" else kind_of(literal)
    if stored in (None, wanted):
        return ""
    numbers = {"Edm.Int32", "Edm.Int64", "Edm.Double"}
    return "a number of another type" if {stored, wanted} <= numbers else "a property of another type"

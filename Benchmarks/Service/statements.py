"""The parts of the SQL that fills a ledger or a peer's database, in the dialect of the database."""


class Statements:
    def __init__(self, storage: str, columns: dict[str, str] | None = None) -> None:
        """
        - columns: The columns of a ledger of another version, each as TABLE.COLUMN with "1" if it needs an integer.
        """
        self.is_postgres = storage == "postgres"
        self.columns = columns

    def begin(self) -> None:
        """Prints the statements before the first row."""
        if self.is_postgres:
            # A failed seed can be repeated, and the generated rows satisfy the foreign keys by construction.
            print("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf();")
            print("SET session_replication_role = replica;")
        else:
            print("PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000;")

    def finish(self) -> None:
        """Prints the statements after the last row. SQLite gets no statistics, because the service gathers none there."""
        if self.is_postgres:
            print("ALTER SYSTEM RESET ALL; SELECT pg_reload_conf(); VACUUM ANALYZE; CHECKPOINT;")
        else:
            print("PRAGMA journal_mode = WAL;")

    def add_app(self, bundle: str) -> None:
        """Prints the statement that adds the first app, if a service has not."""
        print(f"INSERT INTO app (app, bundle_id) SELECT 1, '{bundle}' WHERE NOT EXISTS (SELECT 1 FROM app WHERE app = 1);")

    def add_products(self, first: int, products: list[str]) -> None:
        """Prints the statement that numbers products from `first` on, unless an earlier seed has."""
        rows = ", ".join(f"({number}, '{product}')" for number, product in enumerate(products, first))
        print(f"INSERT INTO product (product, product_id) VALUES {rows} ON CONFLICT DO NOTHING;")

    def insert(self, table: str, values: dict[str, str | int], rows: str) -> None:
        """Prints the statement that fills columns, each with an expression of n, for each n of a table."""
        if self.columns is not None:
            prefix = table.strip('"') + "."
            kinds = {key.removeprefix(prefix): kind for key, kind in self.columns.items() if key.startswith(prefix)}
            values = {column: values.get(column, 0) for column, kind in kinds.items() if column in values or kind == "1"}
        if values:
            print(f"INSERT INTO {table} ({', '.join(values)}) SELECT {', '.join(map(str, values.values()))} FROM {rows};")

    def series(self, first: int, last: int) -> str:
        """A table with the numbers from `first` to `last` as n."""
        if self.is_postgres:
            return f"(SELECT generate_series({first}::bigint, {last}::bigint) AS n) AS series"
        return (
            f"(WITH RECURSIVE series(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM series WHERE n < {last})"
            " SELECT n FROM series) AS series"
        )

    def digest(self) -> str:
        """32 bytes."""
        return "decode(md5(n::text) || md5(n::text), 'hex')" if self.is_postgres else "randomblob(32)"

    def identifier(self, number: str) -> str:
        """A number of 16 digits as an identifier of a store. PostgreSQL has it in seven bytes (`PackedText`)."""
        if not self.is_postgres:
            return f"CAST({number} AS TEXT)"
        digits = " + ".join(f"(({number}) / {10 ** place} % 10 + 1) * {11 ** place}" for place in range(16))
        return f"decode(lpad(to_hex({digits}), 14, '0'), 'hex')"

    def uuid(self, text: str) -> str:
        """The value of a packed column with a UUID."""
        return f"'\\xfe'::bytea || decode(replace({text}, '-', ''), 'hex')" if self.is_postgres else text

    def hexadecimal(self, number: str, digits: int) -> str:
        if self.is_postgres:
            return f"lpad(to_hex({number}), {digits}, '0')"
        return f"printf('%0{digits}x', {number})"

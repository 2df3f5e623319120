import Commerce
import Ledger

/// The ledger's statements about the catalog, inside a transaction that the caller holds. What is now follows from what has
/// happened; only of pictures nothing is kept but the last.
struct CatalogRecords {
    let database: any LedgerDatabase

    func revision() throws -> Int64 {
        try database.value("SELECT coalesce(max(number), 0) FROM catalog_change", []) ?? 0
    }

    /// In the order in which they were first changed.
    func products() throws -> [CatalogRecord.Product] {
        try database.rows(
            """
            SELECT product_id,
                (SELECT definition FROM catalog_change AS defined
                    WHERE defined.product_id = changed.product_id AND kind IN ('defined', 'reverted')
                    ORDER BY number DESC LIMIT 1) AS definition,
                (SELECT kind FROM catalog_change AS standing
                    WHERE standing.product_id = changed.product_id AND kind IN ('withdrawn', 'restored', 'reverted')
                    ORDER BY number DESC LIMIT 1) AS standing
            FROM (SELECT product_id, min(number) AS first FROM catalog_change GROUP BY product_id) AS changed
            ORDER BY first
            """
        ).map { row in
            let standing: String? = try row["standing"]
            return CatalogRecord.Product(
                productIdentifier: try row["product_id"], definition: try row["definition"],
                isWithdrawn: standing == CatalogChange.Kind.withdrawn.rawValue)
        }
    }

    /// The SHA-256 of each.
    func pictureDigests() throws -> [Item: [UInt8]] {
        var digests: [Item: [UInt8]] = [:]
        for row in try database.rows("SELECT collection, number, digest FROM catalog_picture") {
            digests[Item(collection: try row["collection"], number: try row["number"])] = try row["digest"]
        }
        return digests
    }

    func picture(of item: Item) throws -> [UInt8]? {
        try database.value(
            "SELECT bytes FROM catalog_picture WHERE collection = $1 AND number = $2", [item.collection, item.number])
    }

    func sizeOfPictures(but item: Item) throws -> Int {
        try database.value(
            """
            SELECT CAST(coalesce(sum(length(bytes)), 0) AS BIGINT) FROM catalog_picture
            WHERE (collection, number) <> ($1, $2)
            """,
            [item.collection, item.number]) ?? 0
    }

    func set(_ picture: [UInt8], digest: [UInt8], of item: Item) throws {
        try database.execute(
            """
            INSERT INTO catalog_picture (collection, number, digest, bytes) VALUES ($1, $2, $3, $4)
            ON CONFLICT (collection, number) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
            """,
            [item.collection, item.number, digest, picture])
    }

    func insert(_ change: CatalogChange) throws {
        var (definition, item, digest): (String?, Item?, [UInt8]?) = (nil, nil, nil)
        switch change.content {
        case .definition(let text): definition = text
        case .picture(let of, let digested): (item, digest) = (of, digested)
        case .reversion, .withdrawal, .restoration: break
        }
        try database.execute(
            """
            INSERT INTO catalog_change (number, happened_at, changed_by, kind, product_id, definition, collection,
                item_number, picture_digest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                change.number, change.happenedAt, change.changedBy, change.content.kind.rawValue,
                change.productIdentifier, definition, item?.collection, item?.number, digest,
            ])
    }

    func changes(of productIdentifier: String?, before number: Int64, limit: Int) throws -> [CatalogChange] {
        let (condition, arguments): (String, [any SQLConvertible]) =
            productIdentifier.map { ("WHERE product_id = $1 AND number < $2 ORDER BY number DESC LIMIT $3", [$0]) }
            ?? ("WHERE number < $1 ORDER BY number DESC LIMIT $2", [])
        return try database.rows("SELECT * FROM catalog_change \(condition)", arguments + [number, limit])
            .map(Self.change)
    }

    private static func change(_ row: SQLRow) throws -> CatalogChange {
        let kind: String = try row["kind"]
        let content: CatalogChange.Content =
            switch CatalogChange.Kind(rawValue: kind) {
            case .defined: .definition(try row["definition"])
            case .reverted: .reversion
            case .withdrawn: .withdrawal
            case .restored: .restoration
            case .pictured:
                .picture(
                    of: Item(collection: try row["collection"], number: try row["item_number"]),
                    digest: try row["picture_digest"])
            case nil: throw SQLRow.Mismatch(column: "kind")
            }
        return CatalogChange(
            number: try row["number"], happenedAt: try row["happened_at"], changedBy: try row["changed_by"],
            productIdentifier: try row["product_id"], content: content)
    }
}

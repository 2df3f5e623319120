import Commerce
import Ledger

/// The statements on the catalog, inside the caller's transaction. The changes give the current state. Of pictures, the ledger
/// keeps only the last one.
struct CatalogRecords {
    let database: any LedgerDatabase
    /// The app of changes without an app.
    let firstApp: String

    func revision() throws -> Int64 {
        try database.value("SELECT coalesce(max(number), 0) FROM catalog_change", []) ?? 0
    }

    /// The changed products, in the order of their first changes.
    func products() throws -> [CatalogRecord.Product] {
        try database.rows(
            """
            SELECT app, product_id,
                (SELECT definition FROM catalog_change AS defined
                    WHERE defined.product_id = changed.product_id AND coalesce(defined.app, $1) = changed.app
                        AND kind IN ('defined', 'reverted')
                    ORDER BY number DESC LIMIT 1) AS definition,
                (SELECT kind FROM catalog_change AS standing
                    WHERE standing.product_id = changed.product_id AND coalesce(standing.app, $1) = changed.app
                        AND kind IN ('withdrawn', 'restored', 'reverted')
                    ORDER BY number DESC LIMIT 1) AS standing
            FROM (SELECT coalesce(app, $1) AS app, product_id, min(number) AS first FROM catalog_change
                GROUP BY coalesce(app, $1), product_id) AS changed
            ORDER BY first
            """,
            [firstApp]
        ).map { row in
            let standing: String? = try row["standing"]
            return CatalogRecord.Product(
                app: try row["app"], productIdentifier: try row["product_id"], definition: try row["definition"],
                isWithdrawn: standing == CatalogChange.Kind.withdrawn.rawValue)
        }
    }

    /// The SHA-256 of each item's picture.
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
                item_number, picture_digest, app) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            [
                change.number, change.happenedAt, change.changedBy, change.content.kind.rawValue,
                change.productIdentifier, definition, item?.collection, item?.number, digest,
                change.app,
            ])
    }

    func changes(
        of productIdentifier: String?,
        in app: String,
        before number: Int64,
        limit: Int
    ) throws -> [CatalogChange] {
        var (condition, arguments): (String, [any SQLConvertible]) = ("", [firstApp, app, number])
        if let productIdentifier {
            condition = "AND product_id = $4"
            arguments.append(productIdentifier)
        }
        return try database.rows(
            """
            SELECT * FROM catalog_change
            WHERE coalesce(app, $1) = $2 AND number < $3 \(condition)
            ORDER BY number DESC LIMIT $\(arguments.count + 1)
            """,
            arguments + [limit]
        ).map(change)
    }

    /// The value of a column of the last change of some kinds of a product before a change.
    ///
    /// - Returns: Nil if there is no such change, or if its value is NULL.
    func last<Value: SQLConvertible>(
        _ column: String,
        of kinds: [CatalogChange.Kind],
        before change: CatalogChange
    ) throws -> Value? {
        let names = kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        let row = try database.rows(
            """
            SELECT \(column) AS value FROM catalog_change
            WHERE coalesce(app, $1) = $2 AND product_id = $3 AND number < $4 AND kind IN (\(names))
            ORDER BY number DESC LIMIT 1
            """,
            [firstApp, change.app, change.productIdentifier, change.number]
        ).first
        guard let row else { return nil }
        let value: Value? = try row["value"]
        return value
    }

    private func change(_ row: SQLRow) throws -> CatalogChange {
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
            app: try row["app"] ?? firstApp, productIdentifier: try row["product_id"], content: content)
    }
}

import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The statements on the catalog. The changes give the current state. Of pictures, the ledger keeps only the last one.
extension LedgerTransaction {
    /// The number of the last change; 0 if there is none.
    package func catalogRevision() throws -> Int64 {
        guard try database.has("catalog_change") else { return 0 }
        return try database.single("SELECT coalesce(max(number), 0) FROM catalog_change")
    }

    /// The state of the catalog after all changes.
    package func catalogRecord() throws -> CatalogRecord {
        guard try database.has("catalog_picture") else {
            return CatalogRecord(revision: 0, changed: [], pictures: [:])
        }
        return CatalogRecord(
            revision: try catalogRevision(), changed: try changedSubjects(), pictures: try pictureDigests())
    }

    /// The subject of a change as it was before the change; nil if nothing had changed it.
    func subject(before change: CatalogChange) throws -> CatalogRecord.Changed? {
        try changedSubjects(before: change).first
    }

    /// The changed subjects, in the order of their first changes.
    ///
    /// - Parameter change: The change before which only its own subject is read; nil for all subjects and all changes.
    private func changedSubjects(before change: CatalogChange? = nil) throws -> [CatalogRecord.Changed] {
        func last(_ column: String, _ kinds: String) -> String {
            """
            (SELECT \(column) FROM catalog_change AS change
                WHERE change.subject = changed.subject AND change.product_id = changed.product_id
                    AND change.app = changed.app AND change.number < $1 AND kind IN (\(kinds))
                ORDER BY number DESC LIMIT 1)
            """
        }
        var (condition, arguments): (String, [any SQLConvertible]) = ("", [change?.number ?? .max])
        if let change {
            condition = "AND app = $2 AND subject = $3 AND product_id = $4"
            arguments += [change.app, change.subject.kind, change.subject.identifier]
        }
        return try database.rows(
            """
            SELECT app, subject, product_id, \(last("definition", "'defined', 'reverted'")) AS definition,
                \(last("kind", "'withdrawn', 'restored', 'reverted'")) AS standing
            FROM (SELECT app, subject, product_id, min(number) AS first FROM catalog_change
                WHERE number < $1 \(condition) GROUP BY app, subject, product_id) AS changed
            ORDER BY first
            """,
            arguments
        ) { row in
            CatalogRecord.Changed(
                app: try row.next(), subject: try CatalogSubject(&row), definition: try row.next(),
                isWithdrawn: (try row.next() as CatalogChange.Kind?) == .withdrawn)
        }
    }

    private func pictureDigests() throws -> [Item: [UInt8]] {
        let digests: [(Item, [UInt8])] = try database.rows("SELECT collection, number, digest FROM catalog_picture") {
            (try Item(&$0), try $0.next())
        }
        return Dictionary(digests) { _, last in last }
    }

    /// The bytes of an item's picture; nil if there is none.
    package func catalogPicture(of item: Item) throws -> [UInt8]? {
        try database.value(
            "SELECT bytes FROM catalog_picture WHERE collection = $1 AND number = $2", [item.collection, item.number])
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - picture: The bytes of the picture if the change is one.
    ///   - maximumPictures: The largest total size of all pictures, in bytes.
    /// - Returns: False if the change's number is not the next: another caller has changed the catalog meanwhile.
    /// - Throws: `CatalogChangeError`, `picturesTooLarge`.
    package func add(_ change: CatalogChange, picture: [UInt8]?, maximumPictures: Int) throws -> Bool {
        guard try catalogRevision() == change.number - 1 else { return false }
        var (definition, item, digest): (String?, Item?, [UInt8]?) = (nil, nil, nil)
        switch change.content {
        case .definition(let text): definition = text
        case .picture(let of, let digested): (item, digest) = (of, digested)
        case .reversion, .withdrawal, .restoration: break
        }
        if let item, let digest, let picture {
            guard try sizeOfPictures(but: item) + picture.count <= maximumPictures else {
                throw CatalogChangeError.picturesTooLarge
            }
            try database.execute(
                """
                INSERT INTO catalog_picture (collection, number, digest, bytes) VALUES ($1, $2, $3, $4)
                ON CONFLICT (collection, number) DO UPDATE SET digest = excluded.digest, bytes = excluded.bytes
                """,
                [item.collection, item.number, digest, picture])
        }
        let values: [any SQLConvertible] = [
            change.number, change.happenedAt, change.changedBy, change.app, change.subject.kind,
            change.subject.identifier, change.content.kind, definition, item?.collection, item?.number, digest,
        ]
        try database.insert(into: "catalog_change", CatalogChange.columns, [values])
        return true
    }

    private func sizeOfPictures(but item: Item) throws -> Int {
        try database.single(
            """
            SELECT CAST(coalesce(sum(length(bytes)), 0) AS BIGINT) FROM catalog_picture
            WHERE (collection, number) <> ($1, $2)
            """,
            [item.collection, item.number])
    }

    /// The changes of an app's catalog, newest first.
    ///
    /// - Parameters:
    ///   - filter: The listed changes.
    ///   - number: The number of the last change of the previous page; nil for the first page.
    package func catalogChanges(
        _ filter: CatalogChangeFilter,
        in app: String,
        before number: Int64?,
        limit: Int
    ) throws -> [CatalogChange] {
        var (condition, arguments): (String, [any SQLConvertible]) = ("", [app, number ?? .max])
        switch filter {
        case .all: break
        case .products: condition = "AND subject = 'product'"
        case .only(let subject):
            condition = "AND subject = $3 AND product_id = $4"
            arguments += [subject.kind, subject.identifier]
        }
        return try database.rows(
            """
            SELECT \(CatalogChange.columns.joined(separator: ", ")) FROM catalog_change
            WHERE app = $1 AND number < $2 \(condition)
            ORDER BY number DESC LIMIT $\(arguments.count + 1)
            """,
            arguments + [limit], CatalogChange.init)
    }
}

extension CatalogChange {
    fileprivate static let columns = [
        "number", "happened_at", "changed_by", "app", "subject", "product_id", "kind", "definition", "collection",
        "item_number", "picture_digest",
    ]

    /// The change in the next columns, which are `columns`.
    fileprivate init(_ row: inout ResultRow) throws {
        self.init(
            number: try row.next(), happenedAt: try row.next(), changedBy: try row.next(), app: try row.next(),
            subject: try CatalogSubject(&row), content: try Content(&row))
    }
}

extension CatalogSubject.Kind: SQLConvertible {}

extension CatalogSubject {
    /// The subject in the next columns: its kind and its identifier.
    fileprivate init(_ row: inout ResultRow) throws {
        let kind: Kind = try row.next()
        self = kind.identified(by: try row.next())
    }
}

extension CatalogChange.Content {
    /// The content in the next columns: the kind, the definition, the item and the digest of its picture.
    fileprivate init(_ row: inout ResultRow) throws {
        let kind: CatalogChange.Kind = try row.next()
        switch kind {
        case .defined: self = .definition(try row.next())
        case .reverted: self = .reversion
        case .withdrawn: self = .withdrawal
        case .restored: self = .restoration
        case .pictured:
            // A picture has no definition.
            _ = try row.nextValue()
            self = .picture(of: try Item(&row), digest: try row.next())
        }
    }
}

/// The state of the catalog after all changes in the ledger.
package struct CatalogRecord: Hashable, Sendable {
    package struct Changed: Hashable, Sendable {
        /// The bundle identifier of the app.
        package let app: String
        package let subject: CatalogSubject
        /// The definition as JSON; nil if the files' definition is valid.
        package let definition: String?
        /// True for a product that is no longer for sale.
        package let isWithdrawn: Bool
    }

    /// The number of the last change; 0 if there is none.
    package let revision: Int64
    /// The changed subjects, in the order of their first changes.
    package let changed: [Changed]
    /// The SHA-256 of each item's picture.
    package let pictures: [Item: [UInt8]]

    /// The catalog of an app: the files with the changes of this record.
    ///
    /// - Throws: `CatalogError` if the changes conflict with the files.
    func catalog(changing files: Catalog, pictures shown: [Item: Picture]) throws(CatalogError) -> Catalog {
        var (catalog, definitions, offeringMap) = (files, [ProductDefinition](), OfferingMap())
        let changed = changed.filter { $0.app.hasSameBytes(as: files.bundleIdentifier) }
        do throws(CatalogError) {
            for change in changed {
                guard let text = change.definition else { continue }
                let identifier = change.subject.identifier
                guard let object = JSONObject.stored(text) else {
                    throw CatalogError(file: identifier, reason: "it is not JSON")
                }
                if change.subject.kind == .product {
                    definitions.append(
                        try ProductDefinition(object, of: identifier, currency: files.storefront.currency))
                } else {
                    try offeringMap.define(object, as: change.subject)
                }
            }
            try catalog.administer(
                definitions, withdrawn: Set(changed.filter(\.isWithdrawn).map(\.subject.identifier)), pictures: shown,
                offerings: offeringMap)
        } catch {
            throw CatalogError(
                file: "The ledger's change of \"\(error.file)\" conflicts with the catalog's files", key: error.key,
                reason: error.reason)
        }
        return catalog
    }
}

extension LedgerFeature {
    package static let catalogAdministration = LedgerFeature(tables: [.catalogChange, .catalogPicture])
}

extension Table {
    fileprivate static let catalogChange = Table(
        name: "catalog_change", family: .everywhere,
        columns: [
            .integer("number", check: "number > 0"), .integer("happened_at"), .text("changed_by"), .text("kind"),
            .text("product_id"), .text("definition").optional, .text("collection").optional,
            .integer("item_number").optional, .blob("picture_digest", count: 32).optional,
            // The bundle identifier.
            .text("app"),
            // The kind of subject that `product_id` identifies.
            .text("subject"),
        ],
        key: ["number"],
        checks: [
            "(definition IS NOT NULL) = (kind = 'defined')", "(picture_digest IS NOT NULL) = (kind = 'pictured')",
        ]
    )
    .indexed("catalog_change_of_product", by: ["product_id", "number"])

    fileprivate static let catalogPicture = Table(
        name: "catalog_picture", family: .everywhere,
        columns: [.text("collection"), .integer("number"), .blob("digest", count: 32), .blob("bytes")],
        key: ["collection", "number"], hasLargeRows: true)
}

import Ledger
import Proofs

extension LedgerTransaction {
    /// The number of the last change; 0 if there is none.
    package func catalogRevision() throws -> Int64 {
        guard try database.has("catalog_change") else { return 0 }
        return try CatalogRecords(database: database).revision()
    }

    /// The state of the catalog after all changes.
    package func catalogRecord() throws -> CatalogRecord {
        guard try database.has("catalog_picture") else {
            return CatalogRecord(revision: 0, products: [], offerings: [], pictures: [:])
        }
        let records = CatalogRecords(database: database)
        return CatalogRecord(
            revision: try records.revision(), products: try records.products(),
            offerings: try records.offerings(), pictures: try records.pictureDigests())
    }

    /// The bytes of an item's picture; nil if there is none.
    package func catalogPicture(of item: Item) throws -> [UInt8]? {
        try CatalogRecords(database: database).picture(of: item)
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - picture: The bytes of the picture if the change is one.
    ///   - maximumPictures: The largest total size of all pictures, in bytes.
    package func add(_ change: CatalogChange, picture: [UInt8]?, maximumPictures: Int) throws -> CatalogChangeAnswer {
        let records = CatalogRecords(database: database)
        guard try records.revision() == change.number - 1 else { return .outdated }
        if case .picture(let item, let digest) = change.content, let picture {
            guard try records.sizeOfPictures(but: item) + picture.count <= maximumPictures else {
                return .picturesTooLarge
            }
            try records.set(picture, digest: digest, of: item)
        }
        try records.insert(change)
        return .changed
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
        try CatalogRecords(database: database).changes(filter, in: app, before: number ?? .max, limit: limit)
    }

    /// The subject of a change before it.
    ///
    /// - Returns: The definition as JSON, nil if it was the one of the files, and whether the product was withdrawn.
    func catalogState(before change: CatalogChange) throws -> (definition: String?, isWithdrawn: Bool) {
        let records = CatalogRecords(database: database)
        let standing: String? = try records.last(
            "kind", of: [.withdrawn, .restored, .reverted], before: change)
        return (
            try records.last("definition", of: [.defined, .reverted], before: change),
            standing == CatalogChange.Kind.withdrawn.rawValue
        )
    }
}

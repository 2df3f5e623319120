import Commerce
import Ledger

extension LedgerTransaction {
    /// The number of the last change; 0 where there was none.
    public func catalogRevision() throws -> Int64 {
        guard try database.has("catalog_change") else { return 0 }
        return try CatalogRecords(database: database, firstApp: "").revision()
    }

    /// - Parameter firstApp: The app of changes that name none.
    public func catalogRecord(firstApp: String) throws -> CatalogRecord {
        guard try database.has("catalog_picture") else {
            return CatalogRecord(revision: 0, products: [], pictures: [:])
        }
        let records = CatalogRecords(database: database, firstApp: firstApp)
        return CatalogRecord(
            revision: try records.revision(), products: try records.products(),
            pictures: try records.pictureDigests())
    }

    /// A picture's bytes; nil where an item has none.
    public func catalogPicture(of item: Item) throws -> [UInt8]? {
        try CatalogRecords(database: database, firstApp: "").picture(of: item)
    }

    /// Remembers a change.
    ///
    /// - Parameters:
    ///   - picture: The picture's bytes where it is one.
    ///   - maximumPictures: How many bytes all pictures may have.
    /// - Returns: What has become of it.
    public func add(
        _ change: CatalogChange,
        picture: [UInt8]?,
        maximumPictures: Int
    ) throws -> CatalogChangeAnswer {
        let records = CatalogRecords(database: database, firstApp: change.app)
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

    /// Newest first.
    ///
    /// - Parameters:
    ///   - productIdentifier: Only those of one product; nil for all.
    ///   - firstApp: The app of changes that name none.
    ///   - number: Only those before; nil for all.
    public func catalogChanges(
        of productIdentifier: String?,
        in app: String,
        firstApp: String,
        before number: Int64?,
        limit: Int
    ) throws -> [CatalogChange] {
        try CatalogRecords(database: database, firstApp: firstApp)
            .changes(of: productIdentifier, in: app, before: number ?? .max, limit: limit)
    }
}

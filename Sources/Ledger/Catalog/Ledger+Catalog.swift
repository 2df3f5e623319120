import Commerce

extension Ledger {
    /// The number of the last change; 0 where there was none.
    public func catalogRevision() throws(StorageFault) -> Int64 {
        try storage.read { try CatalogRecords(database: $0).revision() }
    }

    public func catalogRecord() throws(StorageFault) -> CatalogRecord {
        try storage.read { database in
            let records = CatalogRecords(database: database)
            return CatalogRecord(
                revision: try records.revision(), products: try records.products(),
                pictures: try records.pictureDigests())
        }
    }

    /// A picture's bytes; nil where an item has none.
    public func catalogPicture(of item: Item) throws(StorageFault) -> [UInt8]? {
        try storage.read { try CatalogRecords(database: $0).picture(of: item) }
    }

    /// Whether anybody has redeemed a product; looks through all there is.
    public func isRedeemed(_ productIdentifier: String) throws(StorageFault) -> Bool {
        try storage.read { database in
            try database.row("SELECT 1 FROM redeemed_transaction WHERE product_id = $1 LIMIT 1", [productIdentifier])
                != nil
        }
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
    ) throws(StorageFault) -> CatalogChangeAnswer {
        try storage.write { database in
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
    }

    /// Newest first.
    ///
    /// - Parameters:
    ///   - productIdentifier: Only those of one product; nil for all.
    ///   - number: Only those before; nil for all.
    public func catalogChanges(
        of productIdentifier: String?,
        before number: Int64?,
        limit: Int
    ) throws(StorageFault) -> [CatalogChange] {
        try storage.read {
            try CatalogRecords(database: $0).changes(of: productIdentifier, before: number ?? .max, limit: limit)
        }
    }
}

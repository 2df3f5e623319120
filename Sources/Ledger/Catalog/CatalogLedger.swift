import Commerce

/// What is administered beside the catalog's files; each call as those of `Ledger` are.
public protocol CatalogLedger: Ledger {
    /// The number of the last change; 0 where there was none.
    func catalogRevision() throws(StorageFault) -> Int64

    func catalogRecord() throws(StorageFault) -> CatalogRecord

    /// A picture's bytes; nil where an item has none.
    func catalogPicture(of item: Item) throws(StorageFault) -> [UInt8]?

    /// Whether anybody has redeemed a product; looks through all there is.
    func isRedeemed(_ productIdentifier: String) throws(StorageFault) -> Bool

    /// Remembers a change.
    ///
    /// - Parameters:
    ///   - picture: The picture's bytes where it is one.
    ///   - maximumPictures: How many bytes all pictures may have.
    /// - Returns: What has become of it.
    func add(
        _ change: CatalogChange,
        picture: [UInt8]?,
        maximumPictures: Int
    ) throws(StorageFault) -> CatalogChangeAnswer

    /// Newest first.
    ///
    /// - Parameters:
    ///   - productIdentifier: Only those of one product; nil for all.
    ///   - number: Only those before; nil for all.
    func catalogChanges(
        of productIdentifier: String?,
        before number: Int64?,
        limit: Int
    ) throws(StorageFault) -> [CatalogChange]
}

/// What became of a change to the catalog.
public enum CatalogChangeAnswer: Hashable, Sendable {
    case changed
    /// Its number is not the next: somebody else has changed the catalog meanwhile.
    case outdated
    case picturesTooLarge
}

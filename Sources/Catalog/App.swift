/// An app of a service: its identifiers and its catalog.
public struct App: Sendable {
    /// The number of the app in the App Store; nil if it is unknown.
    public let appAppleIdentifier: Int64?
    /// The catalog of the files.
    public let files: Catalog
    /// The present catalog.
    public let current: CurrentCatalog

    /// - Parameter appAppleIdentifier: The number that notifications must state (`appAppleId`); nil accepts any.
    public init(_ files: Catalog, appAppleIdentifier: Int64? = nil) {
        self.files = files
        self.appAppleIdentifier = appAppleIdentifier
        current = CurrentCatalog(files)
    }

    public var bundleIdentifier: String { files.bundleIdentifier }

    public var catalog: Catalog { current.catalog }
}

/// An app of a service: its identifiers, and what it sells.
public struct App: Sendable {
    /// The number of the app in the App Store; nil if it is unknown.
    public let appAppleIdentifier: Int64?
    /// The catalog as its files define it.
    public let files: Catalog
    /// The catalog as it is now.
    public let current: CurrentCatalog

    /// - Parameter appAppleIdentifier: The number that notifications have to state (`appAppleId`); nil for any.
    public init(_ files: Catalog, appAppleIdentifier: Int64? = nil) {
        self.files = files
        self.appAppleIdentifier = appAppleIdentifier
        current = CurrentCatalog(files)
    }

    public var bundleIdentifier: String { files.bundleIdentifier }

    public var catalog: Catalog { current.catalog }
}

/// An app of a service: its identifiers and its catalog.
package struct App: Sendable {
    /// The number of the app in the App Store; nil if it is unknown.
    package let appAppleIdentifier: Int64?
    /// The catalog of the files.
    package let files: Catalog
    /// The present catalog.
    package let current: CurrentCatalog

    /// - Parameter appAppleIdentifier: The number that notifications must state (`appAppleId`); nil accepts any.
    package init(_ files: Catalog, appAppleIdentifier: Int64? = nil) {
        self.files = files
        self.appAppleIdentifier = appAppleIdentifier
        current = CurrentCatalog(files)
    }

    package var bundleIdentifier: String { files.bundleIdentifier }

    package var catalog: Catalog { current.catalog }
}

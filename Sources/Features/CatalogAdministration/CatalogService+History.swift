import Catalog
import Ledger
import Proofs

extension CatalogService {
    /// The changes of products, newest first.
    ///
    /// - Parameter productIdentifier: The only product; nil for all products.
    package func changes(
        of productIdentifier: String?,
        in app: App,
        before number: Int64?,
        limit: Int
    ) async throws -> [CatalogChange] {
        try await changes(Self.filter(productIdentifier), in: app, before: number, limit: limit)
    }

    /// The changes of an app's catalog, newest first.
    package func changes(
        _ filter: CatalogChangeFilter,
        in app: App,
        before number: Int64?,
        limit: Int
    ) async throws -> [CatalogChange] {
        try await ledger.read {
            try $0.catalogChanges(filter, in: app.bundleIdentifier, before: number, limit: limit)
        }
    }

    private static func filter(_ productIdentifier: String?) -> CatalogChangeFilter {
        productIdentifier.map { .only(.product($0)) } ?? .products
    }

    /// The changes of products with the products before and after them, newest first.
    ///
    /// - Parameter productIdentifier: The only product; nil for all products.
    package func history(
        of productIdentifier: String?,
        in app: App,
        before number: Int64?,
        limit: Int
    ) async throws -> [CatalogRevision] {
        try await history(Self.filter(productIdentifier), in: app, before: number, limit: limit)
    }

    /// The changes of an app's catalog with their subjects before and after them, newest first.
    ///
    /// - Parameter number: The number of the last change of the previous page; nil for the first page.
    package func history(
        _ filter: CatalogChangeFilter,
        in app: App,
        before number: Int64?,
        limit: Int
    ) async throws -> [CatalogRevision] {
        try await ledger.read(.snapshot) { transaction in
            try transaction.catalogChanges(
                filter, in: app.bundleIdentifier, before: number, limit: limit
            ).map { change in
                let files = app.files.definition(of: change.subject)
                let (definition, isWithdrawn) = try transaction.catalogState(before: change)
                return CatalogRevision(
                    change,
                    before: CatalogRevision.State(
                        definition: definition.flatMap { .stored($0) } ?? files, isWithdrawn: isWithdrawn),
                    files: files)
            }
        }
    }

    /// A change of a product; nil for an unknown number.
    package func revision(_ number: Int64, of productIdentifier: String, in app: App) async throws -> CatalogRevision? {
        try await revision(number, of: .product(productIdentifier), in: app)
    }

    /// A change of a subject; nil for an unknown number.
    package func revision(_ number: Int64, of subject: CatalogSubject, in app: App) async throws -> CatalogRevision? {
        guard (1..<Int64.max).contains(number) else { return nil }
        let found = try await history(.only(subject), in: app, before: number + 1, limit: 1).first
        return found?.change.number == number ? found : nil
    }

    /// Prepares the next change on the way to the subject before a change: its definition, then its withdrawal.
    ///
    /// - Returns: Nil if the subject is as before the change, or if the change cannot be undone.
    /// - Throws: `CatalogChangeError`.
    package func undo(_ revision: CatalogRevision, in app: App, by key: String) async throws -> Pending? {
        let target = revision.before
        guard case .product(let identifier) = revision.change.subject else {
            return try restore(target.definition, of: revision.change.subject, in: app, by: key)
        }
        switch revision.change.content.kind {
        case .pictured: return nil
        case .withdrawn, .restored: return try setWithdrawn(target.isWithdrawn, identifier, in: app, by: key)
        case .defined, .reverted: break
        }
        if let pending = try await define(target.definition, as: identifier, in: app, by: key) { return pending }
        guard revision.change.content.kind == .reverted, target.isWithdrawn, target.definition != nil else {
            return nil
        }
        return try setWithdrawn(true, identifier, in: app, by: key)
    }

    /// Prepares an earlier definition.
    ///
    /// - Parameter object: The definition; nil to remove the product.
    private func define(
        _ object: JSONObject?,
        as identifier: String,
        in app: App,
        by key: String
    ) async throws -> Pending? {
        let catalog = app.catalog
        guard let object else {
            return catalog.product(identifier) == nil ? nil : try await revert(identifier, in: app, by: key)
        }
        // A reversion would also return the product to sale.
        let isOfFiles = try? ProductDefinition(object, of: identifier, currency: catalog.storefront.currency)
            .isSame(as: app.files.definition(of: identifier))
        if isOfFiles == true, catalog.isAdministered(identifier), !catalog.isWithdrawn(identifier) {
            return try await revert(identifier, in: app, by: key)
        }
        return try await define(object, as: identifier, in: app, by: key)
    }
}

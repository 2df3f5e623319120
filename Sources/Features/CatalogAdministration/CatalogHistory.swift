import Catalog
import Ledger
import Proofs

package enum CatalogChangeFilter: Hashable, Sendable {
    case all
    case products
    /// Only changes of one product, right or offering, or of the current offering.
    case only(CatalogSubject)

    /// - Parameter productIdentifier: The only product; nil for all products.
    package static func of(product productIdentifier: String?) -> Self {
        productIdentifier.map { .only(.product($0)) } ?? .products
    }
}

/// A change of the catalog, with its subject before and after it.
package struct CatalogRevision: Sendable {
    /// The state of a product but for its picture, or of a right or an offering.
    package struct State: Sendable {
        /// The definition; nil if there was none.
        package let definition: JSONObject?
        package let isWithdrawn: Bool
    }

    package let change: CatalogChange
    package let before: State
    package let after: State

    /// True if the change can be undone. The ledger keeps no earlier pictures.
    package var isUndoable: Bool { change.content.kind != .pictured }

    /// - Parameter files: The definition of the files; nil if they have none.
    init(_ change: CatalogChange, before: State, files: JSONObject?) {
        self.change = change
        self.before = before
        after =
            switch change.content {
            case .definition(let text): State(definition: .stored(text), isWithdrawn: before.isWithdrawn)
            case .reversion: State(definition: files, isWithdrawn: false)
            case .withdrawal: State(definition: before.definition, isWithdrawn: true)
            case .restoration: State(definition: before.definition, isWithdrawn: false)
            case .picture: before
            }
    }
}

extension JSONObject {
    /// The definition of a change. The ledger stores only definitions that parsed; nil if it is damaged.
    static func stored(_ text: String) -> JSONObject? {
        guard case .object(let object) = try? JSONParser.parse(Array(text.utf8)) else { return nil }
        return object
    }
}

extension CatalogService {
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
                let before = try transaction.subject(before: change)
                return CatalogRevision(
                    change,
                    before: CatalogRevision.State(
                        definition: before?.definition.flatMap { .stored($0) } ?? files,
                        isWithdrawn: before?.isWithdrawn ?? false),
                    files: files)
            }
        }
    }

    /// A change by its number.
    ///
    /// - Parameter subject: The subject of the change; nil for any.
    /// - Throws: `CatalogChangeError`, `changeNotFound`.
    package func revision(
        _ number: Int64, of subject: CatalogSubject? = nil, in app: App
    ) async throws -> CatalogRevision {
        guard (1..<Int64.max).contains(number),
            let found = try await history(
                subject.map { .only($0) } ?? .all, in: app, before: number + 1, limit: 1
            ).first, found.change.number == number
        else { throw CatalogChangeError.changeNotFound }
        return found
    }

    /// The number of changes that undo a reversion: the definition, and the withdrawal.
    package static let undoSteps = 2

    /// Prepares the next change on the way to the subject before a change: its definition, then its withdrawal.
    ///
    /// - Parameter limit: The limit of a caller who may not give what another app's products give; nil for a caller of all apps.
    /// - Returns: Nil if the subject is as before the change, or if the change cannot be undone.
    /// - Throws: `CatalogChangeError`; `AppLimitError`.
    package func undo(
        _ revision: CatalogRevision, in app: App, seeing limit: AppLimit? = nil, by key: String
    ) async throws -> Pending? {
        let (target, subject) = (revision.before, revision.change.subject)
        switch revision.change.content.kind {
        case .pictured: return nil
        case .withdrawn, .restored: return try setWithdrawn(target.isWithdrawn, subject.identifier, in: app, by: key)
        case .defined: return try await restore(target.definition, of: subject, in: app, seeing: limit, by: key)
        case .reverted:
            if let pending = try await restore(target.definition, of: subject, in: app, seeing: limit, by: key) {
                return pending
            }
            guard target.isWithdrawn, target.definition != nil else { return nil }
            return try setWithdrawn(true, subject.identifier, in: app, by: key)
        }
    }

    /// Prepares an earlier definition.
    ///
    /// - Parameter object: The definition; nil to remove the subject.
    private func restore(
        _ object: JSONObject?,
        of subject: CatalogSubject,
        in app: App,
        seeing limit: AppLimit?,
        by key: String
    ) async throws -> Pending? {
        let (catalog, identifier) = (app.catalog, subject.identifier)
        let (present, ofFiles) = (catalog.definition(of: subject), app.files.definition(of: subject))
        guard let object else { return present == nil ? nil : try await revert(subject, in: app, by: key) }
        let isReversion: Bool
        if subject.kind == .product {
            let definition = try? ProductDefinition(object, of: identifier, currency: catalog.storefront.currency)
            // A reversion would also return the product to sale.
            isReversion =
                definition?.isSame(as: ofFiles) == true && catalog.isAdministered(subject)
                && !catalog.isWithdrawn(identifier)
        } else {
            guard object != present else { return nil }
            isReversion = object == ofFiles
        }
        return isReversion
            ? try await revert(subject, in: app, by: key)
            : try await define(object, as: subject, in: app, seeing: limit, by: key)
    }
}

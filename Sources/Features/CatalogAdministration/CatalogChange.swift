import Catalog
import Ledger
import Proofs

package struct CatalogChange: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable, SQLConvertible {
        /// The subject was created, or its definition was changed.
        case defined
        /// The subject has the definition of the files again.
        case reverted
        /// A product is no longer for sale.
        case withdrawn
        /// A product is for sale again.
        case restored
        /// The item of a product has a new picture.
        case pictured
    }

    package enum Content: Hashable, Sendable {
        /// The definition as JSON, in the catalog's format.
        case definition(String)
        case reversion
        case withdrawal
        case restoration
        case picture(of: Item, digest: [UInt8])

        package var kind: Kind {
            switch self {
            case .definition: .defined
            case .reversion: .reverted
            case .withdrawal: .withdrawn
            case .restoration: .restored
            case .picture: .pictured
            }
        }
    }

    /// The number of the change, from 1. It is the catalog's revision after the change.
    package let number: Int64
    package let happenedAt: Timestamp
    /// The identifier of the caller's API key.
    package let changedBy: String
    /// The bundle identifier of the app whose catalog was changed.
    package let app: String
    package let subject: CatalogSubject
    package let content: Content
}

extension CatalogChange {
    /// The change that follows a revision of the catalog.
    package init(
        of subject: CatalogSubject,
        _ content: Content,
        after revision: Int64,
        in app: String,
        by caller: String,
        at moment: Timestamp
    ) {
        self.init(
            number: revision + 1, happenedAt: moment, changedBy: caller, app: app, subject: subject, content: content)
    }
}

/// The changes that a list of changes has.
package enum CatalogChangeFilter: Hashable, Sendable {
    case all
    /// Only changes of products.
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

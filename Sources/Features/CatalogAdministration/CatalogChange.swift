import Catalog
import Ledger
import Proofs

/// A change of the catalog in the ledger.
package struct CatalogChange: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
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

    /// The content of a change.
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

    package init(
        number: Int64,
        happenedAt: Timestamp,
        changedBy: String,
        app: String,
        subject: CatalogSubject,
        content: Content
    ) {
        self.number = number
        self.happenedAt = happenedAt
        self.changedBy = changedBy
        self.app = app
        self.subject = subject
        self.content = content
    }
}

/// The part of a catalog that a change is about.
package enum CatalogSubject: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case product
        case right
        case offering
        case currentOffering
    }

    case product(String)
    case right(String)
    case offering(String)
    case currentOffering

    init(_ kind: Kind, _ identifier: String) {
        self =
            switch kind {
            case .product: .product(identifier)
            case .right: .right(identifier)
            case .offering: .offering(identifier)
            case .currentOffering: .currentOffering
            }
    }

    package var kind: Kind {
        switch self {
        case .product: .product
        case .right: .right
        case .offering: .offering
        case .currentOffering: .currentOffering
        }
    }

    /// The identifier of the product or offering, or the name of the right; empty for the current offering.
    package var identifier: String {
        switch self {
        case .product(let identifier), .right(let identifier), .offering(let identifier): identifier
        case .currentOffering: ""
        }
    }
}

extension Catalog {
    /// The definition of a subject; nil for none.
    func definition(of subject: CatalogSubject) -> JSONObject? {
        switch subject {
        case .product(let identifier): definition(of: identifier)
        case .right(let name): right(name)?.definition
        case .offering(let identifier): offering(identifier)?.definition
        case .currentOffering: currentOffering.map { Self.definition(ofCurrentOffering: $0.identifier) }
        }
    }

    /// The definition of the current offering, as the ledger stores it.
    static func definition(ofCurrentOffering identifier: String) -> JSONObject {
        ["identifier": .string(identifier)]
    }

    /// The identifier in a stored definition of the current offering.
    static func currentOffering(_ object: JSONObject) throws(CatalogError) -> String {
        guard case .string(let identifier)? = object["identifier"] else {
            throw CatalogError(file: "The current offering", key: "identifier", reason: "the key is missing")
        }
        return identifier
    }
}

/// The result of a change to the catalog.
package enum CatalogChangeAnswer: Hashable, Sendable {
    case changed
    /// The change's number is not the next: another caller has changed the catalog meanwhile.
    case outdated
    case picturesTooLarge
}

/// The changes that a list of changes has.
package enum CatalogChangeFilter: Hashable, Sendable {
    case all
    /// Only changes of products.
    case products
    /// Only changes of one product, right or offering, or of the current offering.
    case only(CatalogSubject)
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

import Proofs

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

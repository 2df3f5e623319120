import Ledger
import Proofs

/// The names of purchase tokens of Google Play. Only the records of `GooglePlay` have the tokens themselves, which the service needs to
/// ask Google Play. All other rows have names, and so has everything that the service answers, shows, sends or logs.
extension Ledger {
    /// The names of purchase tokens in this ledger.
    ///
    /// - Throws: `StorageFault`.
    package var tokenNames: PurchaseTokenNames {
        get async throws { PurchaseTokenNames(key: try await secret(.purchaseTokens)) }
    }
}

extension EntitlementService {
    /// The names that the purchases of a proof need; nil for a proof that is not of Google Play.
    ///
    /// - Throws: `StorageFault`.
    package func tokenNames(for proof: [UInt8]) async throws -> PurchaseTokenNames? {
        // Of all proofs, only a signed purchase is a JSON object (`ProofForm`), and only it states a token.
        proof.first == UInt8(ascii: "{") ? try await ledger.tokenNames : nil
    }
}

extension LedgerTransaction {
    /// The names of purchase tokens in this ledger; nil before it has named one.
    package var tokenNames: PurchaseTokenNames? {
        get throws { try secret(.purchaseTokens).map { PurchaseTokenNames(key: $0) } }
    }

    /// The identifiers for which a text may stand in a search: the text itself, and the name of a token for who has the token.
    package func identifiers(meantBy text: String) throws -> [String] {
        [text] + [try tokenNames?.name(of: text)].compactMap(\.self)
    }
}

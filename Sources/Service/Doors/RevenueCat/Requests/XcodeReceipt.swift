import Proofs

/// The transactions that an app collects in Xcode's test environment, which has no app receipt.
///
/// Nothing of it is believed but the signed transactions and renewals.
package struct XcodeReceipt: Hashable, Sendable {
    /// The maximum number of signed transactions and renewals.
    package static let maximumCount = 2000

    /// The signed transactions: those of the list, then those of the subscriptions' statuses.
    package let transactions: [[UInt8]]
    /// The signed renewals of the subscriptions' statuses.
    package let renewals: [[UInt8]]

    /// - Parameter bytes: JSON. The caller limits its size.
    /// - Throws: `ProofRefusal` with the reason `encodingInvalid` or `tooManyPurchases`.
    init(_ bytes: [UInt8]) throws(ProofRefusal) {
        guard case .object(let root)? = try? JSONParser.parse(bytes, limits: .init(bytes: ProofVerifier.maximumSize))
        else {
            throw ProofRefusal(.encodingInvalid, "The token is not a JSON object.")
        }
        var transactions = try Self.proofs(root["transactions"], "transactions")
        var renewals: [[UInt8]] = []
        for status in try Self.statuses(root["subscription_status"]) {
            if let proof = try Self.proof(status["transaction"], "transaction") { transactions.append(proof) }
            if let proof = try Self.proof(status["renewal_info"], "renewal_info") { renewals.append(proof) }
        }
        guard transactions.count + renewals.count <= Self.maximumCount else {
            throw ProofRefusal(.tooManyPurchases)
        }
        var seen: Set<[UInt8]> = []
        self.transactions = transactions.filter { seen.insert($0).inserted }
        self.renewals = renewals
    }

    private static func statuses(_ value: JSONValue?) throws(ProofRefusal) -> [JSONObject] {
        switch value {
        case nil, .null: return []
        case .object(let groups):
            var statuses: [JSONObject] = []
            for group in groups.members {
                guard case .array(let elements) = group.value else { throw invalid("subscription_status") }
                for element in elements {
                    guard case .object(let status) = element else { throw invalid("subscription_status") }
                    statuses.append(status)
                }
            }
            return statuses
        default: throw invalid("subscription_status")
        }
    }

    private static func proofs(_ value: JSONValue?, _ name: String) throws(ProofRefusal) -> [[UInt8]] {
        switch value {
        case nil, .null: return []
        case .array(let elements):
            var proofs: [[UInt8]] = []
            for element in elements {
                guard let proof = try proof(element, name) else { throw invalid(name) }
                proofs.append(proof)
            }
            return proofs
        default: throw invalid(name)
        }
    }

    private static func proof(_ value: JSONValue?, _ name: String) throws(ProofRefusal) -> [UInt8]? {
        switch value {
        case nil, .null: return nil
        case .string(let text):
            let bytes = Array(text.utf8)
            guard FetchToken.isSignedJSON(bytes) else { throw invalid(name) }
            return bytes
        default: throw invalid(name)
        }
    }

    private static func invalid(_ name: String) -> ProofRefusal {
        ProofRefusal(.encodingInvalid, "The member \"\(name)\" of the token is invalid.")
    }
}

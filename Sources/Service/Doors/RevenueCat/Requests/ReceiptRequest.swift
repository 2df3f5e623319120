import Features
import HTTPSupport
import Proofs

/// The body of `POST /v1/receipts`.
///
/// The prices and dates that the app states are not read: only signed facts count.
package struct ReceiptRequest: Hashable, Sendable {
    package let user: String
    /// Nil if the app sends none, with only a transaction identifier.
    package let fetchToken: FetchToken?
    /// The signed app transaction; nil if the app sends none.
    package let appTransaction: [UInt8]?
    package let transactionIdentifier: String?
    package let productIdentifier: String?
    /// True if the customer restores purchases.
    package let isRestore: Bool
    package let attributes: [CustomerAttribute]

    /// - Throws: `Problem` for an invalid body, `RedemptionError` for an invalid token.
    package init(_ body: [UInt8]) throws {
        let members = try RequestMembers(body)
        user = try members.text("app_user_id")
        let token = try members.optionalText("fetch_token", upTo: FetchToken.maximumSize)
        do throws(ProofRefusal) {
            if let token, !token.isEmpty { fetchToken = try FetchToken(token) } else { fetchToken = nil }
        } catch {
            throw RedemptionError.refused(error)
        }
        appTransaction = try members.optionalText("app_transaction", upTo: ProofVerifier.maximumCompactSize).map {
            Array($0.utf8)
        }
        transactionIdentifier = try members.optionalText("transaction_id")
        productIdentifier = try members.optionalText("product_id")
        isRestore = try members.flag("is_restore")
        attributes = try AttributeChanges.attributes(of: members)
    }
}

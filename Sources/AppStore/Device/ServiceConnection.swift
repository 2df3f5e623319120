import Foundation
import HTTPSupport
import Proofs

/// The device's connection to the service, for one user.
package protocol ServiceConnection: Sendable {
    /// Redeems a proof.
    ///
    /// - Throws: `ServiceRefusal` if the service refuses the proof; another error if it did not answer.
    func redeem(_ proof: Proof) async throws -> Redemption

    /// The items that the user owns, including those that everybody owns.
    func items() async throws -> [OwnedItemResource]
}

/// A proof of purchase in text. The device sends it to the service and does not read its content.
package enum Proof: Hashable, Sendable {
    /// The app receipt (PKCS#7), in base64.
    case receipt(String)
    /// A signed transaction (JWS).
    case signedTransaction(String)
    /// A purchase that Google Play has signed: the signed text, and its signature in base64.
    case googlePlay(purchase: String, signature: String)
    /// The token of a purchase of Google Play, about which the service asks.
    case purchaseToken(GooglePlayToken)

    package var text: String {
        switch self {
        case .receipt(let text), .signedTransaction(let text): text
        case .googlePlay(let purchase, let signature):
            JSONValue.object(["purchase": .string(purchase), "signature": .string(signature)]).compactText
        case .purchaseToken(let token): token.json.compactText
        }
    }
}

/// A connection to the service over HTTP, for one user.
package struct HTTPServiceConnection: ServiceConnection {
    /// The characters that a path segment may have unencoded (RFC 3986 section 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private let client: ServiceClient
    private let userPath: String
    /// The query with the issuer of the user; empty for none.
    private let query: String

    /// - Parameters:
    ///   - client: A client with an API key, or with the user's own token if `user` is nil.
    ///   - user: Nil for the user of the token.
    ///   - issuer: The issuer of the user; nil for a user of the back end.
    package init(client: ServiceClient, user: User?, issuer: String? = nil) {
        self.client = client
        userPath = Self.path(of: user)
        query = user == nil ? "" : issuer.map { "?issuer=" + Self.segment($0) } ?? ""
    }

    /// The path of a user's resources.
    ///
    /// - Parameter user: Nil for the user of the token.
    package static func path(of user: User?) -> String {
        user.map { "/v1/users/" + segment($0.name) } ?? "/v1/me"
    }

    /// A text as a segment of a path.
    package static func segment(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    package func redeem(_ proof: Proof) async throws -> Redemption {
        switch proof {
        case .receipt(let receipt):
            try await client.post(userPath + "/receipts" + query, ["receipt": receipt])
        case .signedTransaction(let transaction):
            try await client.post(userPath + "/transactions" + query, ["signedTransaction": transaction])
        case .googlePlay(let purchase, let signature):
            try await client.post(
                userPath + "/transactions" + query, ["purchase": purchase, "signature": signature])
        case .purchaseToken(let token):
            try await client.post(
                userPath + "/transactions" + query,
                [
                    "purchaseToken": token.purchaseToken, "packageName": token.packageName,
                    "productId": token.productId,
                ].compactMapValues(\.self))
        }
    }

    package func items() async throws -> [OwnedItemResource] {
        let list: List<OwnedItemResource> = try await client.get(userPath + "/items" + query)
        return list.elements
    }

    /// The items and balances that the user owns.
    package func possessions() async throws -> Possessions {
        let items = try await items()
        let list: List<Credit> = try await client.get(userPath + "/balances" + query)
        return Possessions(items: items, balances: list.elements)
    }
}

/// The items and balances that a user owns.
package struct Possessions: Encodable, Sendable {
    package let items: [OwnedItemResource]
    /// The balances of the catalog, by name. A balance may be 0.
    package let balances: [Credit]
}

/// An item that a user owns, with its period and its source.
package struct OwnedItemResource: Codable, Listed, Sendable {
    package static let listName = "items"

    package let collection: String
    package let number: Int
    /// `purchase`, `grant` (by the team) or `rule` (the catalog gives the item to everybody).
    package let source: String
    /// A purchase's state as in the list of subscriptions, or `owned` or `familyShared`. Other sources have `owned`.
    package let state: String
    /// The start of the user's uninterrupted ownership. Nil for a rule. Dates are RFC 3339, UTC.
    package let since: String?
    /// The end. Nil if the item has none.
    package let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it.
    package let renews: Bool?
    /// The product of a purchase.
    package let productId: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let origin: Origin?
    /// The identifier of a grant.
    package let grant: String?

    package var item: Item { Item(collection: collection, number: number) }
}

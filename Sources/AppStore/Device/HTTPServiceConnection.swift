import Foundation
import Proofs

/// A connection to the service over HTTP, for one user.
package struct HTTPServiceConnection: ServiceConnection {
    /// The characters that a path segment may have unencoded (RFC 3986 section 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private let client: ServiceClient
    private let userPath: String

    /// - Parameters:
    ///   - client: A client with an API key, or with the user's own token if `user` is nil.
    ///   - user: Nil for the user of the token.
    package init(client: ServiceClient, user: User?) {
        self.client = client
        userPath = Self.path(of: user)
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
            try await client.post(userPath + "/receipts", ["receipt": receipt])
        case .signedTransaction(let transaction):
            try await client.post(userPath + "/transactions", ["signedTransaction": transaction])
        }
    }

    package func items() async throws -> [OwnedItemResource] {
        let list: OwnedItemList = try await client.get(userPath + "/items")
        return list.items
    }
}

import Foundation
import HTTPSupport
import Proofs
import Vocabulary

/// A client of the service's HTTP API, with one credential.
package struct ServiceClient: Sendable {
    /// The largest answer, in bytes.
    private static let maximumAnswer = 8 << 20
    /// The longest wait before a request is sent again, in seconds.
    private static let maximumWait = 60

    /// The time for a connection. The service is near, or not there.
    private static let connectionTime = Duration.seconds(4)
    private static let maximumRedirects = 5

    let url: URL
    private let credential: String
    private let roots: AdditionalRoots?

    /// - Parameters:
    ///   - url: The address of the service, such as `http://127.0.0.1:8080`.
    ///   - credential: An API key, or the token of an app's user.
    ///   - roots: Root certificates that are trusted in addition to those of the system.
    package init(url: URL, credential: String, trusting roots: AdditionalRoots? = nil) {
        self.url = url
        self.credential = credential
        self.roots = roots
    }

    /// - Parameter path: The encoded path with its query.
    /// - Throws: `ServiceRefusal` if the service refuses; `ServiceUnreachable` if it does not answer.
    package func get<Answer: Decodable>(_ path: String, language: String? = nil) async throws -> Answer {
        var request = OutgoingRequest(.get, url.absoluteString + path)
        if let language { request.add("Accept-Language", language) }
        return try await send(request)
    }

    /// Throws as `get` does.
    package func post<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
        try await send(try request(.post, path, body))
    }

    /// Throws as `get` does.
    package func put<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
        try await send(try request(.put, path, body))
    }

    /// Sends bytes as the only field of a form (RFC 7578). Throws as `get` does.
    package func put<Answer: Decodable>(_ path: String, field: String, bytes: [UInt8]) async throws -> Answer {
        let boundary = "till-\(UUID().uuidString)"
        let head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"\(field)\"\r\n\r\n"
        let body = Array(head.utf8) + bytes + Array("\r\n--\(boundary)--\r\n".utf8)
        return try await send(
            OutgoingRequest(
                .put, url.absoluteString + path, type: "multipart/form-data; boundary=\(boundary)", body: body))
    }

    /// Throws as `get` does.
    package func patch<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
        try await send(try request(.patch, path, body))
    }

    /// Throws as `get` does.
    package func delete<Answer: Decodable>(_ path: String) async throws -> Answer {
        try await send(OutgoingRequest(.delete, url.absoluteString + path))
    }

    /// Sends JSON, and returns the bytes of the answer. Throws as `get` does.
    ///
    /// - Parameter body: Nil for a request without a body.
    package func bytes(
        _ method: OutgoingRequest.Method, _ path: String, body: [UInt8]? = nil
    ) async throws -> [UInt8] {
        let type = body.map { _ in "application/json" }
        let request = OutgoingRequest(method, url.absoluteString + path, type: type, body: body)
        return [UInt8](try await answer(to: request, within: 30, upTo: Self.maximumAnswer).body)
    }

    private func request(
        _ method: OutgoingRequest.Method, _ path: String, _ body: some Encodable
    ) throws -> OutgoingRequest {
        let body = Array(try JSONEncoder().encode(body))
        return OutgoingRequest(method, url.absoluteString + path, type: "application/json", body: body)
    }

    private func send<Answer: Decodable>(_ request: OutgoingRequest) async throws -> Answer {
        let (_, body) = try await answer(to: request, within: 30, upTo: Self.maximumAnswer)
        if body.isEmpty, let nothing = NoContent() as? Answer { return nothing }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: body) else {
            throw ServiceUnreachable(reason: "its answer has another form than Till's")
        }
        return answer
    }

    /// - Parameters:
    ///   - seconds: The time for the head of the answer, and for each pause in its body.
    ///   - limit: The largest body read, in bytes.
    ///   - attempts: The number of requests, if the service limits the rate or is busy.
    func answer(
        to request: OutgoingRequest,
        within seconds: Int64,
        upTo limit: Int,
        attempts: Int = 1
    ) async throws -> (links: [String], body: Data) {
        var request = request
        request.add("Authorization", "Bearer \(credential)")
        request.roots = roots
        let limits = OutgoingLimits(
            connection: Self.connectionTime, answer: .seconds(seconds), body: .unhurried(upTo: limit),
            redirects: Self.maximumRedirects)
        let answer: OutgoingAnswer
        do {
            answer = try await OutgoingClient.shared.send(request, limits)
        } catch {
            throw ServiceUnreachable(reason: Self.reason(of: error, host: url.host() ?? "?"))
        }
        let body = Data(answer.body)
        if (200..<300).contains(answer.status) { return (answer.headers("Link"), body) }
        guard attempts > 1, [429, 503].contains(answer.status) else {
            throw refusal(status: answer.status, body: body)
        }
        let wait = answer.header("Retry-After").flatMap { Int($0) } ?? 1
        try await Task.sleep(for: .seconds(min(max(1, wait), Self.maximumWait)))
        request.remove("Authorization")
        return try await self.answer(to: request, within: seconds, upTo: limit, attempts: attempts - 1)
    }

    private static func reason(of failure: OutgoingFailure, host: String) -> String {
        switch failure {
        case .tlsFailed: "its TLS certificate is not trusted, or it does not speak TLS (--ca-file trusts a root)"
        case .unreachable: "nothing listens at its address, or there is no host \"\(host)\""
        case .tooLarge: "its answer is too large"
        case .requestInvalid: "its address, or a header of the request, is invalid"
        case .redirectsEndless: "it redirects in a circle"
        case .cancelled, .timedOut, .connectionEnded, .other: "it took too long, or the connection ended"
        }
    }

    /// A problem document (RFC 9457) with a code is the service's refusal. Anything else may be a proxy's answer.
    private func refusal(status: Int, body: Data) -> any Error {
        guard let problem = try? JSONDecoder().decode(ProblemResource.self, from: body) else {
            return ServiceUnreachable(reason: "HTTP status \(status)")
        }
        guard status < 500 else { return ServiceUnreachable(reason: "HTTP status \(status), \(problem.code)") }
        return ServiceRefusal(problem)
    }
}

/// An answer without a body.
package struct NoContent: Decodable, Sendable {}

extension ServiceClient {
    /// The largest part of an export, in bytes: a part has all records of its users.
    private static let maximumPart = 1 << 28
    private static let attempts = 10

    package struct ExportPart: Sendable {
        /// Whole lines.
        package let body: Data
        /// The path of the next part, with its query; nil after the last.
        package let next: String?
    }

    /// Reads a part of an export, and retries if the service limits the rate or is busy.
    ///
    /// Throws as `get` does.
    package func exportPart(_ path: String) async throws -> ExportPart {
        let (links, body) = try await answer(
            to: OutgoingRequest(.get, url.absoluteString + path), within: 120, upTo: Self.maximumPart,
            attempts: Self.attempts)
        return ExportPart(body: body, next: links.lazy.compactMap(Self.next).first)
    }

    /// The path of a link to the next part (RFC 8288), on the same service.
    private static func next(_ link: String) -> String? {
        link.wholeMatch(of: /<(\/[^>]*)>; *rel="next"/).map { String($0.1) }
    }
}

package struct ServiceRefusal: CodedError, Hashable {
    package let code: String
    package let message: String
}

extension ServiceRefusal {
    package init(_ problem: ProblemResource) {
        self.init(code: problem.code, message: problem.detail)
    }
}

/// A request without a usable answer of the service. The request may have arrived.
package struct ServiceUnreachable: CodedError, Equatable {
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }

    package var code: String { "serviceUnreachable" }

    package var message: String {
        "The service gave no usable answer: \(reason). Nothing is lost. Try again."
    }
}

/// The device's connection to the service, for one user.
package protocol ServiceConnection: Sendable {
    /// Redeems a proof.
    ///
    /// - Throws: `ServiceRefusal` if the service refuses the proof; another error if it did not answer.
    func redeem(_ proof: Proof) async throws -> Redemption
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

    var isOfGooglePlay: Bool {
        switch self {
        case .receipt, .signedTransaction: false
        case .googlePlay, .purchaseToken: true
        }
    }

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

    /// The items and balances that the user owns, with the items that everybody owns.
    package func possessions() async throws -> Possessions {
        let items: List<OwnedItemResource> = try await client.get(userPath + "/items" + query)
        let list: List<Credit> = try await client.get(userPath + "/balances" + query)
        return Possessions(items: items.elements, balances: list.elements, unknownUser: items.unknownUser)
    }
}

/// The items and balances that a user owns.
package struct Possessions: Encodable, Sendable {
    package let items: [OwnedItemResource]
    /// The balances of the catalog, by name. A balance may be 0.
    package let balances: [Credit]
    /// Nil for a user whom the service knows, and for the user of a token.
    package let unknownUser: UnknownUser?

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(items, forKey: .items)
        try container.encode(balances, forKey: .balances)
        try unknownUser?.encode(to: encoder)
    }

    private enum CodingKeys: String, CodingKey {
        case items, balances
    }
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
    package let productId: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let origin: Origin?
    /// The identifier of a grant.
    package let grant: String?

    package var item: Item { Item(collection: collection, number: number) }
}

import AsyncHTTPClient
import Commerce
import Foundation
import JWTKit

/// A team's key for the App Store Server API (App Store Connect, "In-App Purchase key").
public struct AppStoreServerKey: Sendable {
    let keyIdentifier: String
    let issuerIdentifier: String
    let bundleIdentifier: String
    private let keys: JWTKeyCollection

    /// - Parameter privateKey: The content of the `.p8` file, in PEM.
    /// - Throws: `ReconciliationError`, `keyInvalid`.
    public init(
        privateKey: String,
        keyIdentifier: String,
        issuerIdentifier: String,
        bundleIdentifier: String
    ) async throws(ReconciliationError) {
        self.keyIdentifier = keyIdentifier
        self.issuerIdentifier = issuerIdentifier
        self.bundleIdentifier = bundleIdentifier
        guard let key = try? ES256PrivateKey(pem: privateKey) else { throw .keyInvalid }
        keys = await JWTKeyCollection().add(ecdsa: key, kid: JWKIdentifier(string: keyIdentifier))
    }

    /// A token good for five minutes (App Store Server API, "Generating JSON Web Tokens for API requests").
    func token(at now: Timestamp) async throws -> String {
        let seconds = now.secondsSince1970
        return try await keys.sign(
            Claims(
                iss: issuerIdentifier, iat: seconds, exp: seconds + 300, aud: "appstoreconnect-v1",
                bid: bundleIdentifier), kid: JWKIdentifier(string: keyIdentifier))
    }

    /// Dates in seconds since 1970.
    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud: String
        let bid: String

        /// Only made here, never judged.
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

/// The App Store Server API, as far as a service asks it. Nothing it answers is believed unless it is signed.
public struct AppStoreServerClient: Sendable {
    /// The largest answer read, in bytes: twenty signed notifications are a third of it.
    private static let maximumAnswer = 1 << 20
    private static let patience = Duration.seconds(30)

    private let url: URL
    private let key: AppStoreServerKey
    private let client: HTTPClient
    private let clock: any WallClock

    /// - Parameter clock: By which tokens are made.
    public init(
        url: URL,
        key: AppStoreServerKey,
        client: HTTPClient = .shared,
        clock: any WallClock = SystemClock()
    ) {
        self.url = url
        self.key = key
        self.client = client
        self.clock = clock
    }

    private struct Refusal: Decodable {
        let errorCode: Int64
    }

    struct NotificationHistory: Decodable {
        struct Item: Decodable {
            let signedPayload: String
        }

        let paginationToken: String?
        let hasMore: Bool
        let notificationHistory: [Item]
    }

    struct TransactionHistory: Decodable {
        let revision: String?
        let hasMore: Bool
        let signedTransactions: [String]
    }

    /// `POST /inApps/v1/notifications/history`
    func notificationHistory(
        from start: Timestamp,
        until end: Timestamp,
        paginationToken: String?
    ) async throws(ReconciliationError) -> NotificationHistory {
        struct Body: Encodable {
            let startDate: Timestamp
            let endDate: Timestamp
        }
        var query: [URLQueryItem] = []
        if let paginationToken { query = [URLQueryItem(name: "paginationToken", value: paginationToken)] }
        var request = request("/inApps/v1/notifications/history", query)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        guard let body = try? JSONEncoder().encode(Body(startDate: start, endDate: end)) else {
            throw .answerInvalid
        }
        request.body = .bytes(body)
        return try await send(request)
    }

    /// `GET /inApps/v2/history/{transactionId}`
    func transactionHistory(
        of transactionIdentifier: String,
        revision: String?
    ) async throws(ReconciliationError) -> TransactionHistory {
        var query: [URLQueryItem] = []
        if let revision { query = [URLQueryItem(name: "revision", value: revision)] }
        // Only digits come from the ledger's own transactions; anything else is asked for as it stands.
        let identifier = transactionIdentifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try await send(request("/inApps/v2/history/\(identifier)", query))
    }

    private func request(_ path: String, _ query: [URLQueryItem]) -> HTTPClientRequest {
        var components = URLComponents()
        components.queryItems = query.isEmpty ? nil : query
        return HTTPClientRequest(url: url.absoluteString + path + (components.string ?? ""))
    }

    private func send<Answer: Decodable>(_ request: HTTPClientRequest) async throws(ReconciliationError) -> Answer {
        let status: UInt
        let body: Data
        do {
            var request = request
            request.headers.add(name: "Authorization", value: "Bearer \(try await key.token(at: clock.now()))")
            (status, body) = try await Deadline.run(within: Self.patience) { [client, request] in
                let response = try await client.execute(request, deadline: .distantFuture)
                let bytes = try await response.body.collect(upTo: Self.maximumAnswer)
                return (response.status.code, Data(bytes.readableBytesView))
            }
        } catch {
            throw .unreachable(host: url.host() ?? "?")
        }
        guard status == 200 else {
            throw .refused(status: Int(status), code: (try? JSONDecoder().decode(Refusal.self, from: body))?.errorCode)
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: body) else { throw .answerInvalid }
        return answer
    }
}

import AsyncHTTPClient
import Commerce
import Foundation

/// The line to the service over HTTP.
public struct HTTPServiceConnection: ServiceConnection {
    private static let maximumAnswer = 1 << 20

    /// What a path segment may hold as it is (RFC 3986 section 2.3).
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private let client: HTTPClient
    private let userPath: String
    private let key: String

    /// - Parameters:
    ///   - url: Where the service listens, such as `http://127.0.0.1:8080`.
    ///   - key: The API key it takes.
    public init(client: HTTPClient = .shared, url: URL, user: User, key: String) {
        self.client = client
        self.key = key
        let name = user.name.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
        userPath = url.absoluteString + "/v1/users/" + name
    }

    public func redeem(_ proof: Proof) async throws -> Redemption {
        switch proof {
        case .receipt(let receipt): try await post("receipts", ["receipt": receipt])
        case .signedTransaction(let transaction): try await post("transactions", ["signedTransaction": transaction])
        }
    }

    public func items() async throws -> [Item] {
        struct Answer: Decodable {
            let items: [Item]
        }
        let answer: Answer = try await send(HTTPClientRequest(url: userPath + "/items"))
        return answer.items
    }

    private func post<Answer: Decodable>(_ collection: String, _ body: [String: String]) async throws -> Answer {
        var request = HTTPClientRequest(url: userPath + "/" + collection)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(try JSONEncoder().encode(body))
        return try await send(request)
    }

    private func send<Answer: Decodable>(_ request: HTTPClientRequest) async throws -> Answer {
        var request = request
        request.headers.add(name: "Authorization", value: "Bearer \(key)")
        let status: UInt
        let body: Data
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            status = response.status.code
            body = Data(try await response.body.collect(upTo: Self.maximumAnswer).readableBytesView)
        } catch {
            throw ServiceUnreachable(reason: "\(type(of: error))")
        }
        guard status == 200 else { throw refusal(status: status, body: body) }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: body) else {
            throw ServiceUnreachable(reason: "an answer in another form")
        }
        return answer
    }

    /// A problem document (RFC 9457) with a code is the service's own no; anything else may be a proxy's.
    private func refusal(status: UInt, body: Data) -> any Error {
        struct Problem: Decodable {
            let code: String
            let detail: String
        }
        guard let problem = try? JSONDecoder().decode(Problem.self, from: body) else {
            return ServiceUnreachable(reason: "HTTP status \(status)")
        }
        guard status < 500 else { return ServiceUnreachable(reason: "HTTP status \(status), \(problem.code)") }
        return ServiceRefusal(code: problem.code, message: problem.detail)
    }
}

// A back end for an app that sells in the App Store and on Google Play. Examples/README.md describes its routes and settings.

import Crypto
import Foundation
import Hummingbird
import JWTKit
import Logging

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@main
struct Garden {
    // Put your own accounts here, with hashes of passwords. Till has the same names.
    static let passwords = ["alice": "correct horse", "bob": "battery staple"]

    static func main() async throws {
        try await application(settings: ProcessInfo.processInfo.environment).runService()
    }

    static func application(settings: [String: String]) async throws -> some ApplicationProtocol {
        func setting<Value>(_ name: String, read: (String) throws -> Value?) throws -> Value {
            guard let text = settings[name], !text.isEmpty, let value = try read(text) else {
                throw InvalidSetting(name: name)
            }
            return value
        }
        let issuer = try setting("ISSUER") { $0 }
        let key = try setting("SIGNING_KEY") { try JWK(json: $0).privateExponent }
        let tokens = try await Tokens(
            issuer: issuer, audience: setting("AUDIENCE") { $0 }, key: EdDSA.PrivateKey(d: key, curve: .ed25519))
        let till = try Till(
            url: setting("TILL_URL") { URL(string: $0) }, key: setting("TILL_API_KEY") { $0 }, issuer: issuer)
        let webhook = try Webhook(
            key: setting("TILL_WEBHOOK_SECRET") { Data(base64Encoded: String($0.trimmingPrefix("whsec_"))) })
        let port = try setting("PORT") { Int($0) }

        let router = Router()
        router.post("sessions") { request, context in
            let credentials = try await request.decode(as: Credentials.self, context: context)
            guard let password = passwords[credentials.name], isEqual(password, credentials.password) else {
                throw HTTPError(.unauthorized, message: "The name or the password is wrong.")
            }
            return try await ["token": tokens.issue(to: credentials.name)]
        }
        router.post("purchases") { request, context in
            // A signed transaction of the App Store, or a purchase token of Google Play.
            // The app finishes the purchase if mayFinish is true.
            let purchase = try await request.body.collect(upTo: context.maxUploadSize)
            return try await till.call("POST", tokens.user(of: request), "transactions", body: purchase)
        }
        router.get("items") { request, _ in
            try await till.call("GET", tokens.user(of: request), "items")
        }
        router.get("activity") { request, _ in
            try await webhook.activity(of: Message.User(issuer: issuer, name: tokens.user(of: request)))
        }
        router.post("hooks") { request, context in
            let content = try await request.body.collect(upTo: context.maxUploadSize)
            try await webhook.receive(Data(buffer: content), headers: request.headers)
            return HTTPResponse.Status.noContent
        }
        return Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
    }

    /// Compares in constant time.
    private static func isEqual(_ one: String, _ other: String) -> Bool {
        SHA256.hash(data: Data(one.utf8)) == SHA256.hash(data: Data(other.utf8))
    }
}

struct InvalidSetting: Error {
    let name: String
}

struct Credentials: Decodable {
    let name: String
    let password: String
}

/// The tokens (RFC 7519) of users, which this back end and Till accept.
struct Tokens {
    struct Claims: JWTPayload {
        let iss: IssuerClaim
        let aud: AudienceClaim
        let sub: SubjectClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) throws {
            try exp.verifyNotExpired()
        }
    }

    private let issuer: String
    private let audience: String
    private let keys = JWTKeyCollection()

    init(issuer: String, audience: String, key: EdDSA.PrivateKey) async {
        self.issuer = issuer
        self.audience = audience
        await keys.add(eddsa: key)
    }

    func issue(to user: String) async throws -> String {
        let end = ExpirationClaim(value: .now.addingTimeInterval(3600))
        return try await keys.sign(
            Claims(iss: .init(value: issuer), aud: .init(value: [audience]), sub: .init(value: user), exp: end))
    }

    func user(of request: Request) async throws -> String {
        let token = request.headers[.authorization]?.dropFirst("Bearer ".count) ?? ""
        do {
            let claims = try await keys.verify(String(token), as: Claims.self)
            try claims.aud.verifyIntendedAudience(includes: audience)
            guard claims.iss.value == issuer else { throw HTTPError(.unauthorized) }
            return claims.sub.value
        } catch {
            throw HTTPError(.unauthorized, message: "Log in: the token is missing, not valid or has expired.")
        }
    }
}

/// The service, which this back end calls with its API key.
struct Till {
    let url: URL
    let key: String
    let issuer: String
    private let logger = Logger(label: "garden")

    /// Calls Till about a user. A refusal is for the app, such as of a purchase that belongs to another user. Any other
    /// failure passes: the app has not finished the purchase, so the store delivers it again.
    func call(_ method: String, _ user: String, _ resource: String, body: ByteBuffer? = nil) async throws -> Response {
        let address = url.appending(path: "v1/users/\(user)/\(resource)")
        var request = URLRequest(url: address.appending(queryItems: [URLQueryItem(name: "issuer", value: issuer)]))
        request.httpMethod = method
        request.httpBody = body.map { Data(buffer: $0) }
        request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
        do {
            let (content, response) = try await URLSession.shared.data(for: request)
            let status = HTTPResponse.Status(code: (response as? HTTPURLResponse)?.statusCode ?? 0)
            if [.ok, .badRequest, .conflict, .unprocessableContent].contains(status) {
                let answer = ResponseBody(byteBuffer: ByteBuffer(data: content))
                return Response(status: status, headers: [.contentType: "application/json"], body: answer)
            }
            logger.error("Till answers \(status): \(String(decoding: content, as: UTF8.self))")
        } catch {
            logger.error("Till does not answer: \(error)")
        }
        throw HTTPError(.serviceUnavailable, message: "Try again later.")
    }
}

struct Message: ResponseCodable {
    struct User: Codable, Equatable {
        let issuer: String
        let name: String
    }
    struct Change: Codable {
        let number: Int?
        let productId: String?
        let user: User?
    }

    let type: String
    let timestamp: String
    let data: Change
}

/// The receiver of Till's messages (standardwebhooks.com). Put a table of your database in place of the dictionary.
actor Webhook {
    private let key: SymmetricKey
    private var messages: [String: Message] = [:]

    init(key: Data) {
        self.key = SymmetricKey(data: key)
    }

    func receive(_ content: Data, headers: HTTPFields) throws {
        func header(_ name: String) -> String { headers.first { $0.name.canonicalName == name }?.value ?? "" }
        let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"))
        let signed = Data("\(id).\(timestamp).".utf8) + content
        // While the secret changes, a message has a signature by each. They are compared in constant time.
        let isSigned = header("webhook-signature").split(separator: " ").contains { text in
            guard let signature = Data(base64Encoded: String(text.trimmingPrefix("v1,"))) else { return false }
            return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
        }
        guard isSigned, let seconds = TimeInterval(timestamp), abs(Date.now.timeIntervalSince1970 - seconds) <= 300
        else {
            throw HTTPError(.unauthorized, message: "The message is too old, or not signed with the webhook's secret.")
        }
        // One that comes again changes nothing.
        if messages[id] == nil { messages[id] = try JSONDecoder().decode(Message.self, from: content) }
    }

    /// Returns what has happened to a user's purchases. Messages can come in another order than that of their numbers.
    func activity(of user: Message.User) -> [Message] {
        messages.values.filter { $0.data.user == user }.sorted { ($0.data.number ?? 0) < ($1.data.number ?? 0) }
    }
}

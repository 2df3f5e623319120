import Foundation
import HTTPSupport
import Proofs

/// The access tokens of a service account (RFC 7523). A token is asked for once, and kept until it ends.
actor PlayAccessTokens {
    /// The maximum size of the answer of the token endpoint, in bytes. Google's tokens have up to 2048.
    private static let maximumAnswer = 64 << 10
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The seconds before its end at which a token is renewed. A request may take so long.
    private static let margin: Int64 = 60
    /// The longest accepted life of a token, in seconds.
    private static let maximumLifetime: Int64 = 86_400

    private struct Token {
        let text: String
        let endsAt: Timestamp
    }

    private let account: GoogleServiceAccount
    private let clock: any WallClock
    private var current: Token?
    /// The request for a token that runs, for which all callers wait.
    private var request: Task<Token, any Error>?

    init(_ account: GoogleServiceAccount, clock: any WallClock) {
        self.account = account
        self.clock = clock
    }

    /// The token for a request.
    ///
    /// - Parameter refused: A token that the API does not accept any more.
    func token(insteadOf refused: String? = nil, within limit: Duration) async throws(PlayDeveloperError) -> String {
        if let current, clock.now() < current.endsAt, !current.text.hasSameBytes(as: refused ?? "") {
            return current.text
        }
        let running = request ?? Task { try await ask(within: limit) }
        request = running
        defer { if request == running { request = nil } }
        do {
            let token = try await running.value
            current = token
            return token.text
        } catch {
            throw error as? PlayDeveloperError ?? .cancelled
        }
    }

    private func ask(within limit: Duration) async throws(PlayDeveloperError) -> Token {
        let now = clock.now()
        guard let assertion = try? account.assertion(at: now) else { throw .accountRefused(status: 400, reason: nil) }
        let form = "grant_type=\(Self.grantType.replacing(":", with: "%3A"))&assertion=\(assertion)"
        let request = OutgoingRequest(
            .post, account.tokenURL.absoluteString, type: "application/x-www-form-urlencoded", body: Array(form.utf8))
        let answer = try await PlayConnection.answer(to: request, within: limit, upTo: Self.maximumAnswer)
        switch answer.status {
        case 200: break
        case 400, 401, 403:
            throw .accountRefused(status: answer.status, reason: answer.object?["error"].flatMap(PlayConnection.word))
        case 429: throw .limited(seconds: answer.retryAfter)
        case 500...599: throw .failed(status: answer.status)
        default: throw .answerInvalid(reason: "The token endpoint answered with \(answer.status).")
        }
        guard let grant = answer.object, let text = grant.text("access_token"), !text.isEmpty,
            text.isVisibleASCII
        else { throw .answerInvalid(reason: "The token endpoint sent no access token.") }
        var life: Int64 = 0
        if case .number(let seconds)? = grant["expires_in"] { life = max(0, seconds.int64 ?? 0) }
        return Token(text: text, endsAt: now.adding(seconds: min(life, Self.maximumLifetime) - Self.margin))
    }
}

/// Requests to Google's servers.
enum PlayConnection {
    struct Answer: Sendable {
        let status: Int
        /// The seconds that the server asks to wait.
        let retryAfter: Int?
        let body: [UInt8]

        var object: JSONObject? {
            if case .object(let object)? = try? JSONParser.parse(body) { object } else { nil }
        }
    }

    /// A word of Google's, such as `invalid_grant`; nil for another text, which could contain anything.
    static func word(_ value: JSONValue) -> String? {
        guard case .string(let text) = value, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") })
        else { return nil }
        return text
    }

    /// The seconds of a header `Retry-After`; nil for a date, and for more than a day.
    private static func seconds(_ text: String) -> Int? {
        Int(text).flatMap { (0...86_400).contains($0) ? $0 : nil }
    }

    /// Sends a request.
    ///
    /// - Parameter maximumSize: The maximum size of the answer in bytes.
    static func answer(
        to request: OutgoingRequest, within limit: Duration, upTo maximumSize: Int
    ) async throws(PlayDeveloperError) -> Answer {
        let limits = OutgoingLimits(answer: limit, body: .whole(upTo: maximumSize))
        do throws(OutgoingFailure) {
            let answer = try await OutgoingClient.toStores.send(request, limits)
            return Answer(
                status: answer.status, retryAfter: answer.header("Retry-After").flatMap(Self.seconds), body: answer.body
            )
        } catch {
            switch error {
            case .tooLarge: throw .answerInvalid(reason: "It has more than \(maximumSize) bytes.")
            case .cancelled: throw .cancelled
            default: throw .unreachable(host: request.host)
            }
        }
    }
}

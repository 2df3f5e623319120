import HTTPSupport
import HTTPTypes
import Hummingbird
import Logging
import Proofs

/// The routes of a local Google Play: the token endpoint of OAuth (`/token`, `/oauth2/v4/token`), the keys of identity tokens (`/oauth2/v1/certs`,
/// `/oauth2/v3/certs`), the Play Developer API (`/androidpublisher/v3`) and its batches (`/batch`), and the sandbox's, which control the customer and the clock
/// (`/sandbox/v1`).
package struct PlayRoutes: LocalStoreRouteSource {
    package static let command = "till play"

    package static var description: LocalStoreDescription { get throws { try LocalStoreDescription.play.get() } }

    let play: GooglePlay
    package let sandboxKey: APIKey
    /// Deletes the named Play; nil if the Play has no name.
    var delete: (@Sendable () -> Void)?

    package var clock: any WallClock { play.machineClock }

    package func accepts(_ token: String) async throws -> Bool {
        do {
            _ = try await BlockingWork.run { [play] in try play.accounts.perform { try $0.account(ofToken: token) } }
            return true
        } catch is PublisherError { return false }
    }

    package func named(
        at path: String, delete: @escaping @Sendable () -> Void, logger: Logger
    ) throws -> (routes: PlayRoutes, sending: Companion) {
        let named = try GooglePlay(besides: play)
        return (PlayRoutes(play: named, sandboxKey: sandboxKey, delete: delete), named.pushing(logger: logger))
    }

    package func checkReadiness() throws { _ = try play.perform { try $0.apps() } }

    package func add(to router: Router<ServiceContext>) {
        let all = addDescription(to: router)
        TokenRoutes(play: play).add(to: all)
        PublisherRoutes(play: play).add(to: all)
        BatchRoutes(play: play).add(to: all)
        all.get("oauth2/v1/certs") { [play] _, _ in
            JSONAnswer.response(
                bytes: try await BlockingWork.run {
                    try play.perform { try JSONAnswer.encode(try $0.identityKeys()) }
                })
        }
        all.get("oauth2/v3/certs") { [play] _, _ in
            JSONAnswer.response(
                bytes: try await BlockingWork.run { try play.perform { try $0.identityKeySet().compactBytes } })
        }
        PlaySandboxRoutes(play: play, delete: delete).add(to: all.sandbox(of: "The local Play", key: sandboxKey))
    }
}

extension GooglePlay {
    package func routes(sandboxKey: APIKey) -> PlayRoutes { PlayRoutes(play: self, sandboxKey: sandboxKey) }
}

/// The token endpoint of OAuth 2.0 (RFC 6749 section 3.2), as google-auth calls it.
struct TokenRoutes: Sendable {
    /// The path in key files, and the one of Google's client for Ruby, which reads none from a key file
    /// (google-auth-library-ruby, `ServiceAccountCredentials::TOKEN_CRED_URI`).
    private static let paths = ["token", "oauth2/v4/token"]
    /// The maximum size of a request: a form with an assertion.
    private static let maximumBodySize = 16 * 1024

    let play: GooglePlay

    func add(to group: RouterGroup<ServiceContext>) {
        for path in Self.paths { add(path, to: group) }
    }

    private static func answer(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        JSONAnswer.response(bytes: JSONAnswer.encode(.object(object)), status: status)
    }

    private func add(_ path: String, to group: RouterGroup<ServiceContext>) {
        group.post(RouterPath(path)) { request, context in
            let bytes = try await RequestBytes.collect(request, context, upTo: Self.maximumBodySize)
            let address = "http://\(request.head.authority ?? "")/\(path)"
            do {
                let token = try await BlockingWork.run { [play] in
                    let form = URLEncodedForm(bytes)
                    func text(_ name: String) -> String? { form?[name].map { String(decoding: $0, as: UTF8.self) } }
                    return try play.accounts.perform {
                        try $0.issueToken(
                            grantType: text("grant_type"), assertion: text("assertion"), at: address
                        ).text
                    }
                }
                return Self.answer([
                    "access_token": .string(token), "expires_in": .integer(AccessToken.lifetime),
                    "token_type": .string("Bearer"),
                ])
            } catch let refusal as TokenRefusal {
                return Self.answer(
                    ["error": .string(refusal.error), "error_description": .string(refusal.description)],
                    status: .badRequest)
            }
        }
    }
}

import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The bearer tokens of developers' servers, verified as by Apple (App Store Server API, "Generating JSON Web Tokens for API
/// requests"). A token has a team key's signature, names this app and lasts an hour at most.
///
/// `iat` is optional, because two of Apple's own libraries omit it. As at Apple, it may not be a second in the future.
struct TeamTokens: RouterMiddleware {
    private static let audience = "appstoreconnect-v1"
    /// The maximum lifetime of a token, in seconds.
    private static let maximumLifetime = 3600.0

    let store: Store
    /// The machine's clock. Callers date their tokens by it, even if the store's clock is ahead.
    let clock: any WallClock

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let token = AuthenticationMiddleware.credential(of: request), try await accepts(token) else {
            // As in Apple's API, the body is not JSON.
            return Response(
                status: .unauthorized, headers: [.contentType: "text/plain"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "Unauthenticated\n\n")))
        }
        return try await next(request, context)
    }

    private func accepts(_ token: String) async throws -> Bool {
        guard let token = try? SignedToken(compact: Array(token.utf8)), let identifier = token.keyIdentifier,
            let key = try await BlockingWork.run({ [store] in try store.teamKeys() }).first(where: {
                $0.keyIdentifier.hasSameBytes(as: identifier)
            }),
            let publicKey = PublicKey(pem: key.publicKey).flatMap({ TokenKey($0, for: .es256) }),
            token.isSigned(by: publicKey), let claims = try? Claims(token.claims)
        else { return false }
        let now = Double(clock.now().millisecondsSince1970) / 1000
        return claims.iss.hasSameBytes(as: key.issuerIdentifier)
            && claims.bid.hasSameBytes(as: store.bundleIdentifier)
            && claims.aud.count == 1 && claims.aud.allSatisfy { $0.hasSameBytes(as: Self.audience) } && claims.exp > now
            && (claims.iat ?? now) <= now && claims.exp <= (claims.iat ?? now) + Self.maximumLifetime
    }

    /// The claims of a token; dates are in seconds since 1970.
    private struct Claims {
        let iss: String
        let bid: String
        let aud: [String]
        let exp: Double
        let iat: Double?

        init(_ claims: TokenClaims) throws(TokenClaims.Malformed) {
            iss = try claims.text("iss")
            bid = try claims.text("bid")
            aud = try claims.audiences()
            exp = try claims.date("exp")
            iat = try claims.optionalDate("iat")
        }
    }
}

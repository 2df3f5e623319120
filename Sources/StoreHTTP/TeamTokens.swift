import Commerce
import HTTPSupport
import HTTPTypes
import Hummingbird
import JWTKit
import Store

/// The bearer tokens of developers' servers, checked as Apple checks them (App Store Server API, "Generating JSON Web Tokens
/// for API requests"): signed with a key of the team's, for this app, and not for longer than an hour.
///
/// `iat` is not asked for: two of Apple's own libraries leave it out.
struct TeamTokens: RouterMiddleware {
    private static let audience = "appstoreconnect-v1"
    /// In seconds, and by how many a caller's clock may be ahead.
    private static let maximumLifetime = 3600.0
    private static let clockSkew = 60.0

    let store: Store
    /// The machine's clock: tokens are made by it, however far the store's own has been moved.
    let clock: any WallClock

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let authorization = request.headers[.authorization], authorization.hasPrefix("Bearer "),
            try await accepts(String(authorization.dropFirst(7)))
        else {
            // As Apple does: no JSON.
            return Response(
                status: .unauthorized, headers: [.contentType: "text/plain"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "Unauthenticated\n\n")))
        }
        return try await next(request, context)
    }

    private func accepts(_ token: String) async throws -> Bool {
        guard let header = try? DefaultJWTParser().parse([UInt8](token.utf8), as: Claims.self).header,
            header.alg == "ES256", let identifier = header.kid,
            let key = try await BlockingWork.run({ [store] in try store.teamKeys() }).first(where: {
                $0.keyIdentifier == identifier
            })
        else { return false }
        let keys = JWTKeyCollection()
        guard let publicKey = try? ES256PublicKey(pem: key.publicKey) else { return false }
        await keys.add(ecdsa: publicKey, kid: JWKIdentifier(string: identifier))
        guard let claims = try? await keys.verify(token, as: Claims.self) else { return false }
        let now = Double(clock.now().millisecondsSince1970) / 1000
        return claims.iss == key.issuerIdentifier && claims.bid == store.bundleIdentifier
            && claims.aud.value == [Self.audience] && claims.exp > now
            && claims.exp <= now + Self.maximumLifetime + Self.clockSkew
            && (claims.iat ?? 0) <= now + Self.clockSkew
    }

    /// What is read of a token; dates in seconds since 1970.
    private struct Claims: JWTPayload {
        let iss: String
        let bid: String
        let aud: AudienceClaim
        let exp: Double
        let iat: Double?

        /// The claims are judged after the signature, by the clock passed in.
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

import Commerce
import Ledger
import Signatures

/// Sessions: a device's access token is good for minutes, and its refresh token once, for a new pair. A refresh token that
/// comes again was copied, so the whole session ends: whoever has the copy, and whoever was robbed.
extension AccountService {
    /// Whose access token it is.
    public enum Presented: Hashable, Sendable {
        case user(User)
        case expired
        case invalid
    }

    /// Whether a text is meant to be an access token.
    public static func isAccessToken(_ text: String) -> Bool {
        text.hasPrefix(SessionToken.Kind.access.rawValue)
    }

    /// - Parameter text: What was presented.
    public func user(presenting text: String) async throws -> Presented {
        guard let token = SessionToken(.access, text) else { return .invalid }
        // Good or not, its time is over.
        guard clock.now() < token.endsAt else { return .expired }
        guard let (session, user) = try await ledger.read(.statement, { try $0.session(access: token.session) }) else {
            return .invalid
        }
        let digest = token.digest
        let isGood = [session.accessDigest, session.previousAccessDigest].compactMap(\.self).contains {
            ConstantTime.areEqual($0, digest)
        }
        return isGood ? .user(user) : .invalid
    }

    /// A refresh token, whether it is good or not.
    public struct PresentedToken: Sendable {
        /// Why it can be good for nothing; nil where it has a session.
        public let refusal: AccountError?
        fileprivate let token: SessionToken
        fileprivate let session: SessionRecord?
    }

    /// The first half of a renewal, and of a log-out: it writes nothing, so that strangers can have nothing written.
    ///
    /// - Parameter text: What was presented.
    /// - Throws: `AccountError`, `refreshTokenInvalid` for what has not the form of one.
    public func presented(_ text: String) async throws -> PresentedToken {
        guard let token = SessionToken(.refresh, text) else { throw AccountError.refreshTokenInvalid }
        let session = try await ledger.read { try $0.session(refresh: token.session) }
        let refusal: AccountError = token.endsAt <= clock.now() ? .refreshTokenExpired : .refreshTokenInvalid
        return PresentedToken(refusal: session == nil ? refusal : nil, token: token, session: session)
    }

    /// A new pair of tokens for a refresh token, which is good no more.
    ///
    /// - Throws: `AccountError`.
    public func renew(_ presented: PresentedToken) async throws -> SessionTokens {
        guard let known = presented.session else { throw presented.refusal ?? AccountError.refreshTokenInvalid }
        let (session, tokens) = newSession(of: known.user, known)
        let renewal = try await ledger.write {
            try $0.renew(session, presenting: presented.token.digest, at: clock.now())
        }
        switch renewal {
        case .renewed: return tokens
        case .unknown: throw AccountError.refreshTokenInvalid
        case .ended: throw AccountError.refreshTokenExpired
        case .reused: throw AccountError.refreshTokenReused
        }
    }

    /// Logs a device out, by its refresh token or one it had before: then somebody has a copy, and out is right, too.
    public func end(_ presented: PresentedToken) async throws {
        guard let session = presented.session else { return }
        try await ledger.write { try $0.end(session) }
    }

    /// Begins a session of a user, by the user's number.
    func begin(of user: Int64, in transaction: LedgerTransaction) throws -> SessionTokens {
        let (session, tokens) = newSession(of: user)
        try transaction.begin(session)
        return tokens
    }

    /// A session with new tokens.
    ///
    /// - Parameters:
    ///   - user: The user's number.
    ///   - known: The session that goes on; nil for a new one.
    func newSession(of user: Int64, _ known: SessionRecord? = nil) -> (SessionRecord, SessionTokens) {
        let now = clock.now()
        func end(_ milliseconds: Int64) -> Timestamp {
            Timestamp(millisecondsSince1970: now.millisecondsSince1970 + milliseconds)
        }
        let identifier = known?.identifier ?? randomness.bytes(16)
        let refresh = known?.refreshIdentifier ?? randomness.bytes(16)
        let tokens = SessionTokens(
            access: SessionToken(
                .access, of: identifier, of: user, endsAt: end(Self.accessTime), randomness: randomness),
            refresh: SessionToken(
                .refresh, of: refresh, of: user, endsAt: end(Self.refreshTime), randomness: randomness))
        let session = SessionRecord(
            user: user, identifier: identifier, refreshIdentifier: refresh, refreshDigest: tokens.refresh.digest,
            accessDigest: tokens.access.digest, beganAt: now, endsAt: tokens.refresh.endsAt)
        return (session, tokens)
    }
}

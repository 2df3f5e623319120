import Ledger
import Proofs

/// The use cases of sessions. An access token is valid for minutes. A refresh token is valid once, for a new pair of tokens. A
/// second use shows that it was copied, and ends the session.
extension AccountService {
    /// The result of presenting an access token.
    package enum Presented: Hashable, Sendable {
        case user(User)
        case expired
        case invalid
    }

    /// True if a text has the prefix of an access token.
    package static func isAccessToken(_ text: String) -> Bool {
        text.hasPrefix(SessionToken.Kind.access.rawValue)
    }

    /// - Parameter text: The presented text.
    package func user(presenting text: String) async throws -> Presented {
        guard let token = SessionToken(.access, text) else { return .invalid }
        // Valid or not, the token has expired.
        guard clock.now() < token.endsAt else { return .expired }
        guard let (session, user) = try await ledger.read(.statement, { try $0.session(access: token.session) }) else {
            return .invalid
        }
        let digest = token.digest
        let isValid = [session.accessDigest, session.previousAccessDigest].compactMap(\.self).contains {
            ConstantTime.areEqual($0, digest)
        }
        return isValid ? .user(user) : .invalid
    }

    /// A presented refresh token, valid or not.
    package struct PresentedToken: Sendable {
        /// The reason why the token is invalid; nil if it has a session.
        package let refusal: AccountError?
        fileprivate let token: SessionToken
        fileprivate let session: SessionRecord?
    }

    /// Finds the session of a refresh token. This is the first half of a renewal or a log-out. It writes nothing, so that
    /// strangers cause no writes.
    ///
    /// - Parameter text: The presented text.
    /// - Throws: `AccountError`, `refreshTokenInvalid` for a malformed text.
    package func presented(_ text: String) async throws -> PresentedToken {
        guard let token = SessionToken(.refresh, text) else { throw AccountError.refreshTokenInvalid }
        let session = try await ledger.read { try $0.session(refresh: token.session) }
        let refusal: AccountError = token.endsAt <= clock.now() ? .refreshTokenExpired : .refreshTokenInvalid
        return PresentedToken(refusal: session == nil ? refusal : nil, token: token, session: session)
    }

    /// Exchanges a refresh token for a new pair of tokens.
    ///
    /// - Throws: `AccountError`.
    package func renew(_ presented: PresentedToken) async throws -> SessionTokens {
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

    /// Ends a session by its current or an earlier refresh token. An earlier one may be a stolen copy, for which ending the
    /// session is right as well.
    package func end(_ presented: PresentedToken) async throws {
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
    ///   - known: The session to continue; nil for a new one.
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

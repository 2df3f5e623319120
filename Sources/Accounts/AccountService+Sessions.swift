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
    public func user(presenting text: String) throws(StorageFault) -> Presented {
        guard let token = SessionToken(.access, text) else { return .invalid }
        // Good or not, its time is over.
        guard clock.now() < token.endsAt else { return .expired }
        guard let (session, user) = try ledger.session(token.session) else { return .invalid }
        let digest = token.digest
        let isGood = [session.accessDigest, session.previousAccessDigest].compactMap(\.self).contains {
            ConstantTime.areEqual($0, digest)
        }
        return isGood ? .user(user) : .invalid
    }

    /// A new pair of tokens for a refresh token, which is good no more.
    ///
    /// - Throws: `AccountError`.
    public func renew(_ text: String) throws(AccountError) -> SessionTokens {
        guard let presented = SessionToken(.refresh, text) else { throw .refreshTokenInvalid }
        let (session, tokens) = newSession(presented.session)
        let renewal = try stored { () throws(StorageFault) in
            try ledger.renew(session, presenting: presented.digest, at: clock.now())
        }
        switch renewal {
        case .renewed: return tokens
        case .unknown: throw presented.endsAt <= clock.now() ? .refreshTokenExpired : .refreshTokenInvalid
        case .ended: throw .refreshTokenExpired
        case .reused: throw .refreshTokenReused
        }
    }

    /// Logs a device out. A session that has ended stays so: who wants out is out.
    ///
    /// - Parameter text: The session's refresh token, or any it had.
    /// - Throws: `AccountError`, `refreshTokenInvalid` for what is no refresh token.
    public func end(_ text: String) throws(AccountError) {
        guard let token = SessionToken(.refresh, text) else { throw .refreshTokenInvalid }
        try stored { () throws(StorageFault) in try ledger.end(session: token.session) }
    }

    /// - Parameter identifier: Of the session that is to have new tokens; nil for a new one.
    func newSession(_ identifier: [UInt8]? = nil) -> (SessionRecord, SessionTokens) {
        let now = clock.now()
        func end(_ milliseconds: Int64) -> Timestamp {
            Timestamp(millisecondsSince1970: now.millisecondsSince1970 + milliseconds)
        }
        let identifier = identifier ?? randomness.bytes(16)
        let tokens = SessionTokens(
            access: SessionToken(.access, of: identifier, endsAt: end(Self.accessTime), randomness: randomness),
            refresh: SessionToken(.refresh, of: identifier, endsAt: end(Self.refreshTime), randomness: randomness))
        let session = SessionRecord(
            identifier: identifier, refreshDigest: tokens.refresh.digest, accessDigest: tokens.access.digest,
            beganAt: now, endsAt: tokens.refresh.endsAt)
        return (session, tokens)
    }
}

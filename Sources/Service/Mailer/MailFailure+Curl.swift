import CCurl

extension MailFailure {
    /// Codes of replies about the client instead of the message: it has to authenticate, or to encrypt. The operator can change
    /// that (RFC 4954 section 6, RFC 3207 section 4).
    private static let authenticationReplies: ClosedRange<Int> = 530...538

    /// - Parameters:
    ///   - code: The result of the transfer.
    ///   - reply: The code of the server's last reply; 0 for none.
    /// - Returns: Nil for a message that the server accepted.
    init?(_ code: CURLcode, reply: Int) {
        switch code {
        case CURLE_OK: return nil
        case CURLE_COULDNT_RESOLVE_HOST: self.init(.hostUnknown)
        case CURLE_COULDNT_CONNECT: self.init(.unreachable)
        case CURLE_OPERATION_TIMEDOUT: self.init(.timedOut)
        case CURLE_LOGIN_DENIED: self.init(.authenticationFailed)
        case CURLE_USE_SSL_FAILED, CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR:
            self.init(.tlsFailed)
        default: self.init(Self.cause(ofReply: reply))
        }
    }

    private static func cause(ofReply reply: Int) -> Cause {
        switch reply {
        case 400...499: .deferred
        case authenticationReplies: .authenticationFailed
        case 500...599: .refused
        default: .other
        }
    }
}

/// What an authority says of a certificate, and for how long it stands by it (RFC 6960 section 4.2.2). Seconds since 1970.
public struct OCSPStatus: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case good
        case revoked(at: Int64)
    }

    /// How far ahead of our clock an answer may be dated: clocks differ, and answers come fresh.
    static let clockTolerance: Int64 = 300
    /// For how long an answer holds that does not say until when.
    static let lifetimeWithoutEnd: Int64 = 300

    public let verdict: Verdict
    let thisUpdate: Int64
    /// The second from which the answer holds no longer: `nextUpdate`.
    public let end: Int64
}

/// Why an answer tells nothing of a certificate.
public enum OCSPError: Error, Sendable, Equatable {
    /// It is no OCSP response in DER, whole.
    case malformed
    /// The responder would not answer; its status says why (RFC 6960 section 4.2.1).
    case declined(status: Int)
    /// Neither the issuer has signed it, nor somebody the issuer has appointed.
    case signerNotAppointed
    case otherCertificate
    /// The responder does not know the certificate.
    case unknownCertificate
    /// It holds no longer, or not yet.
    case outdated
}

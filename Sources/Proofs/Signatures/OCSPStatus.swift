/// An authority's statement about a certificate, with its period of validity (RFC 6960 section 4.2.2). The moments are
/// in seconds since 1970.
public struct OCSPStatus: Sendable, Equatable {
    public enum Verdict: Sendable, Equatable {
        case good
        case revoked(at: Int64)
    }

    /// The accepted clock difference in seconds. Responses arrive fresh, but clocks differ.
    static let clockTolerance: Int64 = 300
    /// The validity of a response without an end, in seconds.
    static let lifetimeWithoutEnd: Int64 = 300

    public let verdict: Verdict
    let thisUpdate: Int64
    /// The second at which the response expires: `nextUpdate`.
    public let end: Int64
}

/// A failure to learn a certificate's status from a response.
public enum OCSPError: Error, Sendable, Equatable {
    /// The bytes are not exactly one OCSP response in DER.
    case malformed
    /// The responder declined to respond, with a status (RFC 6960 section 4.2.1).
    case declined(status: Int)
    /// Neither the issuer nor its authorized responder has signed the response.
    case signerNotAppointed
    case otherCertificate
    /// The responder does not know the certificate.
    case unknownCertificate
    /// The response is expired or not yet valid.
    case outdated
}

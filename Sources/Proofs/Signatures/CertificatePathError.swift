/// A failure to find a path from a certificate to a trusted root.
public enum CertificatePathError: Error, Equatable, Sendable {
    /// The path ends at no trusted root, or a signature or constraint is violated.
    case untrusted
    /// A certificate on the path was not valid at the given moment.
    case outsideValidity
    /// The path has more certificates than Apple's chains.
    case tooLong
}

/// Why there is no path from a certificate to a trusted root.
public enum CertificatePathError: Error, Equatable, Sendable {
    /// No trusted root stands above, or a signature on the way does not hold, or a constraint is broken.
    case untrusted
    /// A certificate on the way was not valid at the moment asked about.
    case outsideValidity
    /// More certificates stand between than Apple's chains have.
    case tooLong
}

/// A defect in a signed JWS of Apple's form.
public enum SignedJSONError: Error, Equatable, Sendable {
    /// The text does not have three segments separated by points.
    case segmentCount
    /// A segment is not base64url without padding.
    case base64
    /// The header is not the required JSON object.
    case header(String)
    /// The header names an algorithm other than ES256.
    case algorithm
    /// `x5c` is missing, empty, or not certificates in standard base64.
    case certificates
}

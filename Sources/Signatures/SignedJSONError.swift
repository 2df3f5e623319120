/// Why a text is not a JWS as Apple signs them.
public enum SignedJSONError: Error, Equatable, Sendable {
    /// Not three segments with a point between.
    case segmentCount
    /// A segment is not base64url without padding.
    case base64
    /// The header is not the JSON object it has to be.
    case header(String)
    /// The header names another algorithm than ES256.
    case algorithm
    /// `x5c` is missing, empty, or not certificates in standard base64.
    case certificates
}

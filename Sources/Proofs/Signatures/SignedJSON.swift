/// A JWS in compact form (RFC 7515 section 7.1) like Apple's: ES256, with the chain in the header's `x5c`.
///
/// The initializer checks only the form. `isSigned(by:)` and the validation of the chain verify the signer.
public struct SignedJSON: Sendable {
    /// The first segment. Equal bytes mean the same chain.
    public let header: ArraySlice<UInt8>
    /// The payload's bytes, which are not trusted yet.
    public let payload: [UInt8]
    private let encodedPayload: ArraySlice<UInt8>
    private let signature: [UInt8]

    /// - Throws: `SignedJSONError` unless there are three segments, the last two in strict base64url.
    init(compact bytes: [UInt8]) throws(SignedJSONError) {
        // The search starts at the end, because the header is the longest segment. A point inside the header is not
        // base64url.
        let point = UInt8(ascii: ".")
        guard let second = bytes.lastIndex(of: point), let first = bytes[..<second].lastIndex(of: point) else {
            throw .segmentCount
        }
        header = bytes[..<first]
        encodedPayload = bytes[(first + 1)..<second]
        guard let payload = Base64.decode(encodedPayload, .urlSafe),
            let signature = Base64.decode(bytes[(second + 1)...], .urlSafe)
        else { throw .base64 }
        self.payload = payload
        self.signature = signature
    }

    /// The DER of each certificate of `x5c`, leaf first.
    ///
    /// - Throws: `SignedJSONError` unless the header is strict base64url of a JSON object with ES256 and certificates.
    public func certificates() throws(SignedJSONError) -> [[UInt8]] {
        guard !header.contains(UInt8(ascii: ".")) else { throw .segmentCount }
        guard let bytes = Base64.decode(header, .urlSafe) else { throw .base64 }
        return try Self.certificates(inHeader: bytes)
    }

    /// The hash state after the header and its point, from which `digest` continues.
    var headerDigest: SHA256State {
        var state = SHA256State()
        state.update(header)
        state.update([UInt8(ascii: ".")])
        return state
    }

    /// Returns the SHA-256 of the signed bytes: header and payload.
    ///
    /// - Parameter headerDigest: The state after this header.
    public func digest(continuing headerDigest: SHA256State) -> [UInt8] {
        var state = headerDigest
        state.update(encodedPayload)
        return state.digest()
    }

    /// True if the signature is valid under the key.
    ///
    /// - Parameter digest: The digest of this JWS.
    public func isSigned(by key: PublicKey, digest: [UInt8]) -> Bool {
        key.verifiesES256(signature, overDigest: digest)
    }

    /// Signs a payload like Apple. The header is exactly `{"alg":"ES256","x5c":[…]}`.
    ///
    /// - Parameter chain: The certificates, from the signer's to the root.
    /// - Returns: The compact form.
    public static func sign(_ payload: JSONValue, with key: PrivateKey, chain: [Certificate]) throws -> String {
        let certificates = chain.map { JSONValue.string(Base64.encode($0.der)) }
        let header = JSONValue.object(["alg": "ES256", "x5c": .array(certificates)])
        let signingInput = [header, payload].map { Base64.encode($0.compactText.utf8, .urlSafe) }.joined(separator: ".")
        let signature = try key.signES256(Array(signingInput.utf8))
        return signingInput + "." + Base64.encode(signature, .urlSafe)
    }

    private static func certificates(inHeader bytes: [UInt8]) throws(SignedJSONError) -> [[UInt8]] {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes) } catch { throw .header(error.message) }
        guard case .object(let header) = value else { throw .header("the value must be an object") }
        guard case .string(let algorithm) = header["alg"], algorithm.hasSameBytes(as: "ES256") else {
            throw .algorithm
        }
        // Both parameters change the meaning of a JWS (RFC 7515 section 4.1.11, RFC 7797). Apple sends neither.
        guard header["crit"] == nil, header["b64"] == nil else {
            throw .header("the parameters crit and b64 are not allowed")
        }
        guard case .array(let values) = header["x5c"], !values.isEmpty else { throw .certificates }
        var certificates: [[UInt8]] = []
        for value in values {
            guard case .string(let text) = value, let der = Base64.decode(Array(text.utf8)[...]) else {
                throw .certificates
            }
            certificates.append(der)
        }
        return certificates
    }
}

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

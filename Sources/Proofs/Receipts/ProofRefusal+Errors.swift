/// Converts each error of a container into a refusal.
extension ProofRefusal {
    init(_ error: SignedDataError) {
        switch error {
        case .malformed: self.init(.containerInvalid, "The container must be a PKCS#7 SignedData.")
        case .contentMissing: self.init(.containerInvalid, "The container has no content.")
        case .certificateCount: self.init(.tooManyCertificates)
        case .signerCount(0): self.init(.containerInvalid, "The container has no signer.")
        case .signerCount: self.init(.containerInvalid, "The container has more than one signer.")
        case .signedAttributes: self.init(.containerInvalid, "The container has signed attributes.")
        case .algorithm: self.init(.algorithmNotAllowed)
        }
    }

    init(_ error: SignedJSONError) {
        switch error {
        case .segmentCount: self.init(.encodingInvalid)
        case .base64: self.init(.encodingInvalid, "A segment of the JWS must be base64url without padding.")
        case .header(let reason): self.init(.containerInvalid, "In the JWS header, \(reason).")
        case .algorithm: self.init(.algorithmNotAllowed, "Only ES256 is allowed.")
        case .certificates: self.init(.signerCertificateMissing)
        }
    }
}

/// A defect in the container of an app receipt.
public enum SignedDataError: Error, Equatable, Sendable {
    /// The bytes are not BER, do not have the structure of SignedData, or continue after it.
    case malformed
    /// The content is missing or is not plain data.
    case contentMissing
    /// The container has more certificates than `SignedData.maximumCertificates`.
    case certificateCount
    /// The container does not have exactly one signer. The value 2 represents all larger numbers.
    case signerCount(Int)
    /// The container has signed attributes. App receipts sign their content directly.
    case signedAttributes
    /// The hash function is not SHA-1 or SHA-256, or the signature is not RSA PKCS#1 v1.5 over that hash.
    case algorithm
}

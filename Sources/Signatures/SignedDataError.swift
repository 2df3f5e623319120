/// Why bytes are not the container of an app receipt.
public enum SignedDataError: Error, Equatable, Sendable {
    /// Not BER, or not in the shape of SignedData, or something follows it.
    case malformed
    /// No content, or content that is not plain data.
    case contentMissing
    /// More certificates than `SignedData.maximumCertificates`.
    case certificateCount
    /// App receipts have exactly one signer; 2 stands for more than one.
    case signerCount(Int)
    /// App receipts are signed over their content directly.
    case signedAttributes
    /// A hash other than SHA-1 or SHA-256, or a signature other than RSA PKCS#1 v1.5 over that hash.
    case algorithm
}

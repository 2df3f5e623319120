import Proofs

/// An error of a file of root certificates.
enum CertificateFileError: CodedError {
    case unreadable(path: String)
    case invalid(path: String)

    var code: String {
        switch self {
        case .unreadable: "fileUnreadable"
        case .invalid: "certificateFileInvalid"
        }
    }

    var message: String {
        switch self {
        case .unreadable(let path):
            "\"\(path)\" of --ca-file cannot be read. Check that it is a file and that you may read it."
        case .invalid(let path):
            "\"\(path)\" of --ca-file has no valid certificate. Name a PEM file with \"-----BEGIN CERTIFICATE-----\"."
        }
    }
}

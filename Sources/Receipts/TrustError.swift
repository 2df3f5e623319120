import Commerce

/// Why a folder of certificates cannot be trusted as it is.
public enum TrustError: CodedError, Equatable {
    case folderUnreadable(path: String)
    case certificateUnreadable(path: String)
    case folderUnwritable(path: String)
    case impostor(name: String)
    case noRoot(path: String)
    case notFound(fingerprint: String)

    public var code: String {
        switch self {
        case .folderUnreadable: "trustFolderUnreadable"
        case .certificateUnreadable: "certificateUnreadable"
        case .folderUnwritable: "trustFolderUnwritable"
        case .impostor: "certificateImpostor"
        case .noRoot: "certificateNoRoot"
        case .notFound: "certificateNotFound"
        }
    }

    public var message: String {
        switch self {
        case .folderUnreadable(let path):
            "The folder of trusted certificates \(path) cannot be read: check that it exists, is a folder and may be opened."
        case .certificateUnreadable(let path):
            "\(path) is not a certificate: put DER or PEM certificates there, named .cer, .crt, .der or .pem."
        case .folderUnwritable(let path):
            "The folder of trusted certificates \(path) cannot be written: check its disk and who owns it."
        case .noRoot(let path):
            "\(path) holds no root certificate: only the certificate at the end of a chain, which names itself as its "
                + "issuer, can be trusted."
        case .notFound(let fingerprint):
            "No one trusted certificate has a SHA-256 that begins with \"\(fingerprint)\" and a file of its own: give eight "
                + "digits or more of one that till trust list shows."
        case .impostor(let name):
            "A certificate calls itself \"\(name.prefix(64))\" and does not have the SHA-256 Apple publishes for its "
                + "roots: remove it, and take Apple's roots from https://www.apple.com/certificateauthority/."
        }
    }
}

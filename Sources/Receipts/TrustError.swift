import Commerce

/// Why a folder of certificates cannot be trusted as it is.
public enum TrustError: CodedError, Equatable {
    case folderUnreadable(path: String)
    case certificateUnreadable(path: String)
    case impostor(name: String)

    public var code: String {
        switch self {
        case .folderUnreadable: "trustFolderUnreadable"
        case .certificateUnreadable: "certificateUnreadable"
        case .impostor: "certificateImpostor"
        }
    }

    public var message: String {
        switch self {
        case .folderUnreadable(let path):
            "The folder of trusted certificates \(path) cannot be read: check that it exists, is a folder and may be opened."
        case .certificateUnreadable(let path):
            "\(path) is not a certificate: put DER or PEM certificates there, named .cer, .crt, .der or .pem."
        case .impostor(let name):
            "A certificate calls itself \"\(name.prefix(64))\" and does not have the SHA-256 Apple publishes for its "
                + "roots: remove it, and take Apple's roots from https://www.apple.com/certificateauthority/."
        }
    }
}

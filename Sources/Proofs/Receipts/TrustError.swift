/// A problem with a folder of trusted certificates.
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
            "Cannot read the folder of trusted certificates \"\(path)\". Check that it is a folder and its permissions."
        case .certificateUnreadable(let path):
            "\"\(path)\" is not a certificate. Use DER or PEM in files named .cer, .crt, .der or .pem."
        case .folderUnwritable(let path):
            "Cannot write to the folder of trusted certificates \"\(path)\". Check its permissions and the free disk space."
        case .noRoot(let path):
            "\"\(path)\" contains no root certificate. Choose the last certificate of a chain: the one that names itself "
                + "as its issuer."
        case .notFound(let fingerprint):
            "No single certificate in a file of its own matches \"\(fingerprint)\". Give at least 8 digits from "
                + "`till trust list`."
        case .impostor(let name):
            "The certificate \"\(name.prefix(64))\" does not have a SHA-256 that Apple publishes for its roots. Remove it. "
                + "Download Apple's roots from https://www.apple.com/certificateauthority/."
        }
    }
}

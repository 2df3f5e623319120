import CPostgreSQL
import Commerce

/// Where a ledger in a PostgreSQL database is: a URL as libpq reads it (PostgreSQL, 34.1.1.2), with several hosts where there is
/// a standby.
public struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// With what may be a password in it.
    let url: String
    /// Without a password: for errors and logs.
    public let description: String

    /// Whether a text is meant to be one.
    public static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// - Throws: `PostgreSQLAddressError`.
    public init(_ url: String) throws(PostgreSQLAddressError) {
        guard Self.isAddress(url), let options = PQconninfoParse(url, nil) else { throw PostgreSQLAddressError() }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            settings[String(cString: keyword)] = option.pointee.val.map { String(cString: $0) }
            option += 1
        }
        let hosts = settings["host", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        let ports = settings["port", default: ""].split(separator: ",", omittingEmptySubsequences: false)
        // A password with a slash or an at sign in it that is not encoded reads as something else, which would be shown.
        let database = settings["dbname", default: ""]
        guard !(hosts + [database[...]]).contains(where: { $0.contains("@") }),
            ports.allSatisfy({ $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } })
        else { throw PostgreSQLAddressError() }
        let places = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            return port.isEmpty ? String(host) : "\(host):\(port)"
        }
        self.url = url
        let user = settings["user"].map { "\($0)@" } ?? ""
        description = "postgres://\(user)\(places.joined(separator: ","))/\(database)"
    }
}

/// A ledger's address cannot be read. It may hold a password, so nothing of it is repeated.
public struct PostgreSQLAddressError: CodedError, Equatable {
    public init() {}

    public var code: String { "ledgerAddressInvalid" }

    public var message: String {
        "The ledger's address is no PostgreSQL URL: write postgres://user@host:5432/database, with percent-encoding where it is "
            + "needed."
    }
}

import Glibc

/// The limit of open files of this process.
enum OpenFileLimit {
    struct TooLow: Error, CustomStringConvertible {
        let description: String
    }

    /// The files that an attack opens at most: its connections, the probes under way, and some to spare.
    private static let required: rlim_t = 2048

    /// Raises the limit as far as the system allows.
    ///
    /// - Throws: `TooLow` if an attack needs more.
    static func raise() throws {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
        guard limit.rlim_max >= required else {
            throw TooLow(
                description: "An attack opens up to \(required) files, and this process may open \(limit.rlim_max). "
                    + "Raise the hard limit (`ulimit -Hn`).")
        }
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, highest)
        _ = setrlimit(resource, &limit)
        guard limit.rlim_max >= required else {
            throw TooLow(
                description: "An attack opens up to \(required) files, and this process may open \(limit.rlim_max). "
                    + "Raise the hard limit (`ulimit -Hn`).")
        }
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        private static let highest = rlim_t.max
    #elseif canImport(Darwin)
        private static let resource = RLIMIT_NOFILE
        /// Darwin refuses a higher limit, although its hard limit is infinite (setrlimit(2)).
        private static let highest = rlim_t(OPEN_MAX)
    #endif
}

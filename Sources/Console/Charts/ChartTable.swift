extension Chart {
    /// The values of the chart as a table, newest first.
    package var table: HTML {
        div(.class("scroll"), .role("region"), HTMLAttribute("tabindex", "0"), .ariaLabel(name)) {
            Console.table {
                caption(.class("hidden")) { name }
                thead {
                    tr {
                        th(.scope("col")) { Phrase("Period", "기간") }
                        for series in series { th(.scope("col"), .class("number")) { bdi { series.name } } }
                    }
                }
                tbody {
                    for index in periods.indices.reversed() {
                        tr {
                            th(.scope("row")) {
                                plain(periods[index].name)
                                if !periods[index].isComplete {
                                    plain(" ")
                                    Shown.badge(Phrase("not over", "진행 중"))
                                }
                            }
                            for series in series { td(.class("number")) { series.points[index].text } }
                        }
                    }
                }
            }
        }
    }
}

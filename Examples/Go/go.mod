module garden

go 1.24

package expansion

//go:generate go run ./_tables
